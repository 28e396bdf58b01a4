package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
)

// meta is the file next to the files of an entry. Of the recipe it has only the version:
// sources hold secrets.
type meta struct {
	Format   int               `json:"format"` // metaFormat
	Key      string            `json:"key"`
	Name     string            `json:"name"`
	Image    string            `json:"image"`
	Space    string            `json:"space,omitempty"`
	Version  artifact.Version  `json:"version"`
	Metadata artifact.Metadata `json:"metadata,omitempty"`
	Tree     string            `json:"tree"`
	Files    int64             `json:"files"`
	Bytes    int64             `json:"bytes"`
	Got      time.Time         `json:"got"`
}

const (
	metaName   = "meta.json"
	metaFormat = 1
)

// read returns an existing entry.
func (s *Store) read(key string) (e artifact.Entry, err error) {
	b, err := os.ReadFile(filepath.Join(s.dir(key), metaName))
	if err != nil {
		return e, err
	}
	var m meta
	if err := json.Unmarshal(b, &m); err != nil {
		return e, err
	}
	if m.Format != metaFormat || m.Key != key {
		return e, fmt.Errorf("it is of format %d and for the key %s", m.Format, m.Key)
	}
	info, err := os.Stat(s.dir(key))
	if err != nil {
		return e, err
	}
	if _, err := os.Stat(filepath.Join(s.dir(key), dataName)); err != nil {
		return e, err
	}
	return artifact.Entry{Key: key, Name: m.Name, Space: m.Space, Version: m.Version, Metadata: m.Metadata, Tree: m.Tree,
		Files: m.Files, Bytes: m.Bytes, Used: info.ModTime()}, nil
}

// fetch fetches the files of a key, whose lock is held. It writes them to a draft first,
// and syncs that before it gets its name.
func (s *Store) fetch(ctx context.Context, key string, fill filler) (err error) {
	draft := s.draft(key)
	if err := errors.Join(os.RemoveAll(draft), os.RemoveAll(s.dir(key)), os.Mkdir(draft, 0o700)); err != nil {
		return errStore(s.o.Dir, err)
	}
	defer func() {
		if err != nil {
			err = keepDiagnostic(err, os.RemoveAll(draft))
		}
	}()
	m, err := fill(ctx, filepath.Join(draft, dataName))
	if err != nil {
		return err
	}
	m.Format, m.Key, m.Got = metaFormat, key, s.now().UTC()
	if err := s.commit(key, m); err != nil {
		return errStore(s.o.Dir, err)
	}
	return nil
}

// get fetches files with an image.
func (s *Store) get(ctx context.Context, o artifact.Order, data string) (meta, error) {
	m := meta{Name: o.Name, Image: o.Target.Reference, Space: o.Recipe.Space, Version: o.Recipe.Version}
	info, err := s.o.Client.Info(ctx, o.Target)
	if err != nil {
		return m, err
	}
	said, err := s.o.Client.Get(ctx, o.Target, info, artifact.GetInput{Recipe: o.Recipe, Take: func(dir string) error {
		limit := cmp.Or(o.Target.GetTimeout, artifact.DefaultGetTimeout)
		ctx, done := context.WithTimeoutCause(ctx, limit, fmt.Errorf("that took longer than the %s that its get may take", limit))
		defer done()
		sum, err := tree.Measure(ctx, dir)
		if err != nil {
			return refusal(o, err)
		}
		m.Tree, m.Files, m.Bytes = sum.Hash, sum.Files, sum.Bytes
		return take(ctx, dir, data)
	}})
	for _, field := range said {
		m.Metadata = append(m.Metadata, artifact.Field{Name: s.o.Hide(field.Name), Value: s.o.Hide(field.Value)})
	}
	return m, err
}

// keepDiagnostic joins err with a later error, if there is one.
func keepDiagnostic(err, after error) error {
	if after == nil {
		return err
	}
	return errors.Join(err, after)
}

// take moves a directory, or copies it if it is on another file system.
func take(ctx context.Context, dir, to string) error {
	err := os.Rename(dir, to)
	if errors.Is(err, syscall.EXDEV) {
		err = tree.Copy(ctx, dir, to)
	}
	return err
}

// commit makes a draft an entry: it syncs the draft, and then renames it.
func (s *Store) commit(key string, m meta) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	draft := s.draft(key)
	if err := os.WriteFile(filepath.Join(draft, metaName), append(b, '\n'), 0o600); err != nil {
		return err
	}
	if err := syncAll(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, s.dir(key)); err != nil {
		return err
	}
	return durable.SyncDir(s.o.Dir)
}

// refusal reports why the files that an image fetched are refused.
func refusal(o artifact.Order, err error) error {
	var refused *tree.RefusedError
	if !errors.As(err, &refused) {
		return diag.Because(err, "The files of a version cannot be read", "%s: %s", o.Target.Address, diag.Visible(err.Error()))
	}
	return diag.Because(&artifact.Error{Class: artifact.Refused, Err: err}, "The files of a version are refused",
		"%s: in the output of image %s, %s. Only files, directories and links are allowed, up to %d in all.", o.Target.Address,
		diag.Visible(o.Target.Reference), diag.Visible(refused.Error()), tree.MaxEntries)
}
