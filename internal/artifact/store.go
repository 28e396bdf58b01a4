package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Order is what is needed to bring files in: the recipe, and how its image is run.
type Order struct {
	Name   string // of the artifact, for people
	Target Target
	Recipe Recipe
}

// Entry is what is known of files that are kept.
type Entry struct {
	Key      string
	Name     string // of the artifact for which they were brought in first
	Space    string
	Version  Version
	Metadata Metadata  // v1: what get said
	Tree     string    // hash over everything in it, "sha256:..."
	Files    int64     // that are no directories
	Bytes    int64     // in plain files
	Used     time.Time // last
}

// Held are files that stay until the Store is closed, whoever prunes.
type Held struct {
	Entry
	Dir     string // absolute, without links; to be read only
	Fetched bool   // they were not here before
}

// Store keeps files by their recipes. It is safe for concurrent use, by many processes
// too.
type Store interface {
	// Fetch returns the files of a recipe, and brings them in where they are not here:
	// once for each key, however many ask at the same time.
	Fetch(ctx context.Context, o Order) (Held, error)

	// Look returns what is known of files that are here, and holds nothing.
	Look(key string) (Entry, bool)

	// List returns all that are here, the last used first.
	List() ([]Entry, error)

	// Prune removes what nobody holds: all of it, or what is beyond the bounds.
	Prune(ctx context.Context, all bool) (removed []Entry, err error)

	// Verify reads all files again. Those that are not what was brought in are removed,
	// where nobody holds them.
	Verify(ctx context.Context) ([]Damage, error)

	// Close gives up what is held. If something was brought in, it removes what is beyond
	// the bounds of the store.
	Close() error
}

// Damage is an entry that is not what it was.
type Damage struct {
	Entry   Entry
	Reason  string
	Removed bool
}

// Sub returns the real place of a path below the root of files that are held. Links are
// followed inside the tree only: one that leads out of it is an error.
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
