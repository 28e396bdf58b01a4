package images

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/runner/imagestore"
)

// LockChange is the change of one name in the lock file.
type LockChange struct {
	Name     string
	Now, Was string // digests; "" = not in the file
}

// WriteLock writes the lock file of a directory, if its content changes. It returns the
// changes, and whether it was written.
func WriteLock(dir string, old *config.Lock, pins map[string]string, modules map[string]config.ModulePin) (changes []LockChange,
	written bool, err error) {
	before := map[string]string{}
	if old != nil {
		before = old.Images
	}
	now := &config.Lock{Images: map[string]string{}, Modules: modules}
	if old != nil {
		now.Artifacts = old.Artifacts
	}
	for name, digest := range pins {
		if _, inName, err := imagestore.FullName(name); err != nil || inName == "" && !imagestore.Reserved(name) {
			now.Images[name] = digest // a name with a digest is pinned by that, one that comes with deployster by its version
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
	changes = append(changes, moduleChanges(old, modules)...)
	if old != nil && maps.Equal(before, now.Images) && maps.Equal(old.Modules, modules) {
		return nil, false, nil
	}
	err = write(dir, now)
	return changes, err == nil, err
}

// moduleChanges returns the changes of the pins of modules.
func moduleChanges(old *config.Lock, now map[string]config.ModulePin) (changes []LockChange) {
	before := map[string]config.ModulePin{}
	if old != nil {
		before = old.Modules
	}
	all := maps.Clone(before)
	maps.Copy(all, now)
	for _, source := range slices.Sorted(maps.Keys(all)) {
		if before[source] == now[source] {
			continue
		}
		c := LockChange{Name: "module " + source}
		if pin, is := now[source]; is {
			c.Now = pin.What()
		}
		if pin, is := before[source]; is {
			c.Was = pin.What()
		}
		changes = append(changes, c)
	}
	return changes
}

// WritePins writes the pinned versions of artifacts into the lock file of a directory,
// next to the images in it. A file that has neither is removed.
func WritePins(dir string, old *config.Lock, pins map[string]config.Pin) error {
	now := &config.Lock{Artifacts: pins}
	if old != nil {
		now.Images, now.Modules = old.Images, old.Modules
	}
	if len(now.Images)+len(now.Artifacts)+len(now.Modules) > 0 {
		return write(dir, now)
	}
	if err := os.Remove(filepath.Join(dir, config.LockName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diag.Errorf("Cannot remove the lock file", "%s.", err)
	}
	return nil
}

func write(dir string, lock *config.Lock) error {
	if err := durable.WriteFile(filepath.Join(dir, config.LockName), lock.Bytes(), 0o644); err != nil {
		return diag.Errorf("Cannot write the lock file", "%s.", err)
	}
	return nil
}
