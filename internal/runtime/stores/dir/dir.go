package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/base/sharedlog"
)

// Store keeps each object as a file below a directory. The slashes of a key separate
// directories.
type Store struct {
	root  string
	calls chan struct{} // has an element for each call in progress

	mu    sync.Mutex
	swept map[string]bool // directories
}

// atWork limits the calls in progress, with those whose callers have given up waiting: each
// occupies a thread while its file system does not answer.
const atWork = 64

// New returns the store in a directory. Create makes the directory if it does not exist.
func New(root string) *Store {
	return &Store{root: filepath.Clean(root), calls: make(chan struct{}, atWork), swept: map[string]bool{}}
}

// within runs a call and returns when the call or the context has ended. The file system of a
// server that is down may not answer for days, and a thread that waits for it cannot be ended.
func within[T any](ctx context.Context, s *Store, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, context.Cause(ctx)
	}
	select {
	case s.calls <- struct{}{}:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	back := make(chan answer, 1)
	go func() {
		defer func() { <-s.calls }()
		value, err := call()
		back <- answer{value, err}
	}()
	select {
	case a := <-back:
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// temporary is the prefix of the names of files that are being written.
const temporary = ".new-"

// Create writes a file with a temporary name, and then links it to the name of the
// object. The link fails if that name exists; a rename would not.
func (s *Store) Create(ctx context.Context, key string, data []byte) error {
	_, err := within(ctx, s, func() (none struct{}, err error) { return none, s.create(ctx, key, data) })
	return err
}

func (s *Store) create(ctx context.Context, key string, data []byte) error {
	path := filepath.Join(s.root, filepath.FromSlash(key))
	dir := filepath.Dir(path)
	if err := s.directories(dir); err != nil {
		return refused(err)
	}
	s.sweep(dir)
	file := filepath.Join(dir, temporary+sharedlog.NewID())
	defer func() { _ = os.Remove(file) }() // a file that stays harms nothing
	if err := write(file, data); err != nil {
		return refused(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	switch err := os.Link(file, path); {
	case errors.Is(err, fs.ErrExist):
		return sharedlog.ErrExists
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: %w: this file system has no hard links", sharedlog.ErrDenied, err)
	case err != nil:
		return refused(err)
	}
	return durable.SyncDir(dir)
}

// directories creates a directory and its parents up to the root, durably.
func (s *Store) directories(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if dir != s.root {
		if err := s.directories(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(dir))
}

// write creates a file, and returns when its content is on the disk.
func write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// sweep removes, once for each directory, the temporary files of writers that were killed. A
// writer that takes longer than a day gets an error, and its caller tries again.
func (s *Store) sweep(dir string) {
	s.mu.Lock()
	swept := s.swept[dir]
	s.swept[dir] = true
	s.mu.Unlock()
	if swept {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), temporary) && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// refused wraps an error in ErrDenied if trying again does not help.
func refused(err error) error {
	for _, e := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOTDIR, syscall.ENAMETOOLONG} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", sharedlog.ErrDenied, err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) { // what was just created does not exist any more
		return fmt.Errorf("the directory was removed meanwhile, or cannot be made: %s", err)
	}
	return err
}

// Get reads the file of an object.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	data, err := within(ctx, s, func() ([]byte, error) { return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(key))) })
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: %w", sharedlog.ErrDenied, err)
	}
	return data, err
}

// List reads the directory of a prefix: the part up to its last slash.
func (s *Store) List(ctx context.Context, prefix string) (keys []string, err error) {
	parent, _ := filepath.Split(prefix)
	entries, err := within(ctx, s, func() ([]fs.DirEntry, error) { return os.ReadDir(filepath.Join(s.root, parent)) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refused(err)
	}
	for _, e := range entries {
		if key := parent + e.Name(); strings.HasPrefix(key, prefix) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Delete removes the file of an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := within(ctx, s, func() (none struct{}, err error) {
		return none, os.Remove(filepath.Join(s.root, filepath.FromSlash(key)))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close does nothing.
func (*Store) Close() error { return nil }
