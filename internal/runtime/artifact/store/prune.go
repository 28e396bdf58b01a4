package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
)

// Prune implements artifact.Store.
func (s *Store) Prune(ctx context.Context, all bool) (removed []artifact.Entry, err error) {
	failed := s.discard()
	removed, err = s.prune(ctx, all)
	return removed, errors.Join(failed, err)
}

func (s *Store) prune(ctx context.Context, all bool) (removed []artifact.Entry, err error) {
	errs := []error{s.sweep()}
	list, err := s.List()
	errs = append(errs, err)
	total := int64(0)
	for _, e := range list {
		total += weight(e)
	}
	for i := len(list) - 1; i >= 0 && ctx.Err() == nil; i-- {
		e := list[i]
		if !all && (total <= s.o.Max || s.now().Sub(e.Used) < inUse) {
			continue
		}
		gone, err := s.remove(e.Key)
		errs = append(errs, err)
		if gone {
			removed, total = append(removed, e), total-weight(e)
		}
	}
	return removed, errors.Join(append(errs, context.Cause(ctx))...)
}

// weight returns how many bytes an entry counts.
func weight(e artifact.Entry) int64 { return e.Bytes + perFile*e.Files }

// remove removes an entry that nothing holds. It renames the entry first, so that a crash
// leaves no incomplete entry.
func (s *Store) remove(key string) (gone bool, err error) {
	lock, err := s.try(key, true)
	if lock == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.leave(key, lock)) }()
	if err := os.RemoveAll(s.draft(key)); err != nil {
		return false, err
	}
	if err := os.Rename(s.dir(key), s.draft(key)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	return true, os.RemoveAll(s.draft(key))
}

// leave releases an exclusive lock. It removes the lock file if there is no entry and no
// draft. That comes last, because another process may take the lock from then on.
func (s *Store) leave(key string, lock *durable.Lock) error {
	for _, path := range []string{s.dir(key), s.draft(key)} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return lock.Unlock()
		}
	}
	return lock.Remove()
}

// sweep removes what killed processes have left: drafts that nothing holds, and locks
// without an entry.
func (s *Store) sweep() error {
	entries, err := os.ReadDir(s.o.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		key, isDraft := strings.CutSuffix(e.Name(), draftSuffix)
		if !isDraft {
			of, isLock := strings.CutSuffix(e.Name(), lockSuffix)
			if _, err := os.Lstat(s.dir(of)); !isLock || !errors.Is(err, os.ErrNotExist) {
				continue
			}
			key = of
		}
		lock, err := s.try(key, true)
		if errs = append(errs, err); lock != nil {
			errs = append(errs, os.RemoveAll(s.draft(key)), s.leave(key, lock))
		}
	}
	return errors.Join(errs...)
}

// discard removes directories that are not entries, as no crash leaves them: no limit counts
// them, and nothing else would remove them.
func (s *Store) discard() error {
	keys, _ := s.present() // prune returns its error
	var errs []error
	for _, key := range keys {
		_, err := s.read(key)
		if failed := diag.Is[*os.PathError](err) && !errors.Is(err, os.ErrNotExist); err == nil || failed {
			continue
		}
		_, err = s.remove(key)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Verify implements artifact.Store.
func (s *Store) Verify(ctx context.Context) (damaged []artifact.Damage, err error) {
	keys, err := s.present()
	errs := []error{err, s.sweep()}
	for _, key := range keys {
		if ctx.Err() != nil {
			break
		}
		d, err := s.verify(ctx, key)
		errs = append(errs, err)
		if d == nil {
			continue
		}
		d.Removed, err = s.remove(key)
		errs = append(errs, err)
		damaged = append(damaged, *d)
	}
	return damaged, errors.Join(append(errs, context.Cause(ctx))...)
}

// verify returns how an entry is damaged; nil = it is not, or it is being fetched or
// removed.
func (s *Store) verify(ctx context.Context, key string) (d *artifact.Damage, err error) {
	lock, err := s.try(key, false)
	if lock == nil || err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if _, err := os.Stat(s.dir(key)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	e, err := s.read(key)
	if err != nil {
		return &artifact.Damage{Entry: artifact.Entry{Key: key}, Reason: fmt.Sprintf("its description cannot be read: %s", err)}, nil
	}
	sum, err := tree.Measure(ctx, filepath.Join(s.dir(key), dataName))
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return &artifact.Damage{Entry: e, Reason: err.Error()}, nil
	case sum.Hash != e.Tree:
		return &artifact.Damage{Entry: e, Reason: "its files have changed since they were fetched"}, nil
	}
	return nil, nil
}
