package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Order is what a Store needs to fetch files: the recipe, and how to run its image.
type Order struct {
	Name   string // of the artifact, for people
	Target Target
	Recipe Recipe
}

// Entry describes kept files.
type Entry struct {
	Key      string
	Name     string // of the artifact that they were first fetched for
	Space    string
	Version  Version
	Metadata Metadata  // v1: the answer of get
	Tree     string    // hash of everything in it, "sha256:..."
	Files    int64     // without directories
	Bytes    int64     // in regular files
	Used     time.Time // the last use
}

// Held describes files that stay until they are released, whoever prunes meanwhile.
type Held struct {
	Entry
	Dir     string // absolute, without links; only for reading
	Fetched bool   // they were not here before
}

// Store keeps files by their recipes. It is safe for concurrent use, also by many
// processes.
type Store interface {
	// Fetch returns the files of a recipe, and fetches them if they are not here: once
	// for each key, however many callers query at the same time.
	Fetch(ctx context.Context, o Order) (Held, error)

	// Look returns the entry of files that are here, and holds nothing.
	Look(key string) (Entry, bool)

	// List returns all entries that are here, the last used first.
	List() ([]Entry, error)

	// Prune removes entries that nothing holds: all of them, or those beyond the limits.
	Prune(ctx context.Context, all bool) (removed []Entry, err error)

	// Verify reads all files again. Files that have changed since they were fetched are
	// removed, unless something holds them.
	Verify(ctx context.Context) ([]Damage, error)

	// Release releases files that are held, but for those of the needed keys.
	Release(needed func(key string) bool) error

	// Close releases the files that are held. If something was fetched, it removes
	// entries beyond the limits of the store.
	Close() error
}

// Damage is an entry that has changed.
type Damage struct {
	Entry   Entry
	Reason  string
	Removed bool
}

// Sub returns the real path of a path below the root of held files. Links are followed
// inside the tree only: one that leads out of it is an error.
func Sub(dir, sub string) (string, error) {
	if sub == "" {
		return dir, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if _, err := root.Stat(sub); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, sub))
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) {
		return "", errors.New("it leads out of the files")
	}
	return real, nil
}
