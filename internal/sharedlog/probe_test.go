package sharedlog_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"deployster/internal/sharedlog"
)

// broken is a store that breaks one promise.
type broken struct {
	objects                     map[string][]byte
	twice, overwrites, listless bool
}

func (s broken) Create(_ context.Context, key string, data []byte) error {
	_, there := s.objects[key]
	if !there || s.twice || s.overwrites {
		s.objects[key] = data
	}
	if there && !s.twice {
		return sharedlog.ErrExists
	}
	return nil
}

func (s broken) Get(_ context.Context, key string) ([]byte, error) {
	if data, there := s.objects[key]; there {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (s broken) List(context.Context, string) (keys []string, err error) {
	for key := range s.objects {
		if !s.listless {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (s broken) Delete(_ context.Context, key string) error { delete(s.objects, key); return nil }
func (s broken) Close() error                               { return nil }

// A store that takes a condition and passes over it is refused before anything relies on it.
func TestProbe_SeesBrokenPromises(t *testing.T) {
	for name, s := range map[string]broken{
		"keeps them":          {},
		"creates twice":       {twice: true},
		"overwrites":          {overwrites: true},
		"does not list":       {listless: true},
		"overwrites and lies": {twice: true, overwrites: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.objects = map[string][]byte{}
			err := sharedlog.Probe(t.Context(), s)
			if good := name == "keeps them"; good != (err == nil) || !good && !errors.Is(err, sharedlog.ErrNoLocks) {
				t.Errorf("got %v", err)
			}
			if len(s.objects) > 0 {
				t.Errorf("left behind: %q", s.objects)
			}
		})
	}
}
