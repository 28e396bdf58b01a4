package images

import (
	"maps"
	"path/filepath"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runner/imagestore"
)

// LockChange is what became of one name in the lock file.
type LockChange struct {
	Name     string
	Now, Was string // digests; "" = it is not there
}

// WriteLock writes the lock file of a directory, if it is not as it is to be. It
// returns what changed, and whether it was written.
func WriteLock(dir string, old *config.Lock, pins map[string]string) (changes []LockChange, written bool, err error) {
	before := map[string]string{}
	if old != nil {
		before = old.Images
	}
	now := &config.Lock{Images: map[string]string{}}
	if old != nil {
		now.Artifacts = old.Artifacts
	}
	for name, digest := range pins {
		if _, inName, err := imagestore.FullName(name); err != nil || inName == "" {
			now.Images[name] = digest // what has its digest in its name is pinned by that
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Images)) {
		if before[name] != now.Images[name] {
			changes = append(changes, LockChange{Name: name, Now: now.Images[name], Was: before[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now.Images[name] == "" {
			changes = append(changes, LockChange{Name: name, Was: before[name]})
		}
	}
	if old != nil && maps.Equal(before, now.Images) {
		return nil, false, nil
	}
	if err := durable.WriteFile(filepath.Join(dir, config.LockName), now.Bytes(), 0o644); err != nil {
		return changes, false, diag.Errorf("Cannot write the lock file", "%s.", err)
	}
	return changes, true, nil
}
