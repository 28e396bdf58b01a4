package modules

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"deployster/config"
)

// Kept is a pinned package, and where it is on this machine.
type Kept struct {
	Source string `json:"source"`           // the source, without the directory in it
	Digest string `json:"digest,omitempty"` // of an image
	Commit string `json:"commit,omitempty"` // of a repository
	Tree   string `json:"tree"`             // the hash of all files, as git computes it
	Dir    string `json:"dir,omitempty"`    // where it is kept; "" = it is not on this machine
	Fault  string `json:"fault,omitempty"`  // why what is kept is not used; init fetches it again
}

// Pin names the pinned content to a person.
func (k Kept) Pin() string { return config.ModulePin{Digest: k.Digest, Commit: k.Commit}.What() }

// List returns the packages that a lock file pins.
func List(lock *config.Lock, cacheDir string) (list []Kept) {
	if lock == nil {
		return nil
	}
	at := kept{filepath.Join(cacheDir, "modules")}
	for _, source := range slices.Sorted(maps.Keys(lock.Modules)) {
		pin := lock.Modules[source]
		k := Kept{Source: source, Digest: pin.Digest, Commit: pin.Commit, Tree: pin.Tree}
		switch _, err := at.read(pin.Tree); {
		case err == nil:
			k.Dir = at.place(pin.Tree)
		case errors.Is(err, errGone):
		default:
			k.Dir, k.Fault = at.place(pin.Tree), err.Error()
		}
		list = append(list, k)
	}
	return list
}
