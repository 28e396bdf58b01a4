package artifacttest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deployster/internal/runtime/artifact"
)

// Store is an artifact.Store in a directory of a test, which removes nothing by itself.
type Store struct {
	mu      sync.Mutex
	dir     string
	client  artifact.Client
	entries map[string]artifact.Entry
}

// NewStore returns a Store that fetches with a Client.
func NewStore(dir string, c artifact.Client) *Store {
	return &Store{dir: dir, client: c, entries: map[string]artifact.Entry{}}
}

// Fetch implements artifact.Store.
func (s *Store) Fetch(ctx context.Context, o artifact.Order) (artifact.Held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := o.Recipe.Key()
	if err != nil {
		return artifact.Held{}, err
	}
	dir := filepath.Join(s.dir, key)
	if e, ok := s.entries[key]; ok {
		return artifact.Held{Entry: e, Dir: dir}, nil
	}
	info, err := s.client.Info(ctx, o.Target)
	if err != nil {
		return artifact.Held{}, err
	}
	e := artifact.Entry{Key: key, Name: o.Name, Space: o.Recipe.Space, Version: o.Recipe.Version,
		Tree: "sha256:" + key, Used: time.Now()}
	said, err := s.client.Get(ctx, o.Target, info, artifact.GetInput{Recipe: o.Recipe, Take: func(from string) error {
		e.Files, e.Bytes = count(from)
		return os.CopyFS(dir, os.DirFS(from))
	}})
	if err != nil {
		return artifact.Held{}, err
	}
	e.Metadata = said
	s.entries[key] = e
	return artifact.Held{Entry: e, Dir: dir, Fetched: true}, nil
}

func count(dir string) (files, bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error { // it was just made
		if i, ierr := e.Info(); err == nil && ierr == nil && i.Mode().IsRegular() {
			files, bytes = files+1, bytes+i.Size()
		}
		return nil
	})
	return files, bytes
}

// Look implements artifact.Store.
func (s *Store) Look(key string) (artifact.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[key]
	return e, ok
}

// List implements artifact.Store.
func (s *Store) List() (list []artifact.Entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		list = append(list, e)
	}
	return list, nil
}

// Prune implements artifact.Store: with all it removes everything, else nothing.
func (s *Store) Prune(_ context.Context, all bool) (removed []artifact.Entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entries {
		if all {
			removed = append(removed, e)
			delete(s.entries, key)
			if err := os.RemoveAll(filepath.Join(s.dir, key)); err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// Verify implements artifact.Store: nothing is ever damaged.
func (s *Store) Verify(context.Context) ([]artifact.Damage, error) { return nil, nil }

// Release implements artifact.Store.
func (s *Store) Release(func(key string) bool) error { return nil }

// Close implements artifact.Store.
func (s *Store) Close() error { return nil }
