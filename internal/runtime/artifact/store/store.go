package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
)

// DefaultMax is the limit of the store in bytes if none is given.
const DefaultMax = 20 << 30

// inUse is how long an entry stays after its last use, whatever the limit.
const inUse = time.Hour

// perFile is how many bytes a file counts, in addition to its content.
const perFile = 4 << 10

// Options declare where files are kept, and how they are fetched.
type Options struct {
	Dir     string // the store; its volumes are on the same file system
	Client  artifact.Client
	Command string // shown to a command that waits for a lock: "deployster plan"
	Max     int64  // the limit in bytes; 0 = DefaultMax

	Hide func(text string) string // takes secrets out of answers of images; nil = there are none
}

// Store is an artifact.Store.
type Store struct {
	o   Options
	now func() time.Time

	mu    sync.Mutex
	keys  map[string]*holding
	added bool
}

// holding is the use of a key in this process.
type holding struct {
	mu   sync.Mutex // held while the files are being obtained
	lock *durable.Lock
	held artifact.Held
}

// New returns a Store. It must be closed.
func New(o Options) *Store {
	o.Max = cmp.Or(o.Max, DefaultMax)
	if o.Hide == nil {
		o.Hide = func(text string) string { return text }
	}
	return &Store{o: o, now: time.Now, keys: map[string]*holding{}}
}

// Paths in the directory of the store.
func (s *Store) dir(key string) string   { return filepath.Join(s.o.Dir, key) }
func (s *Store) draft(key string) string { return filepath.Join(s.o.Dir, key+draftSuffix) }
func (s *Store) lock(key string) string  { return filepath.Join(s.o.Dir, key+lockSuffix) }

const (
	draftSuffix = ".draft"
	lockSuffix  = ".lock"
	dataName    = "data"
)

// Fetch implements artifact.Store.
func (s *Store) Fetch(ctx context.Context, o artifact.Order) (artifact.Held, error) {
	key, err := o.Recipe.Key()
	if err != nil {
		return artifact.Held{}, diag.Because(err, "The files of an artifact cannot be found",
			"%s: %s", o.Target.Address, diag.Visible(err.Error()))
	}
	return s.obtain(ctx, key, o.Target.Address, func(ctx context.Context, data string) (meta, error) { return s.get(ctx, o, data) })
}

// Receive returns the files of a key, and takes them from another machine if they are not
// here: unpack creates their directory, and hash is the hash that they must have.
func (s *Store) Receive(ctx context.Context, key, name, hash string, unpack func(dir string) error) (artifact.Held, error) {
	if !filepath.IsLocal(key) || filepath.Base(key) != key {
		return artifact.Held{}, fmt.Errorf("%q is not a key of files", key)
	}
	return s.obtain(ctx, key, "artifact."+name, func(ctx context.Context, data string) (meta, error) {
		if err := unpack(data); err != nil {
			return meta{}, err
		}
		sum, err := tree.Measure(ctx, data)
		if err == nil && sum.Hash != hash {
			err = fmt.Errorf("the files of artifact.%s were changed after they were fetched. `deployster artifact verify` checks all "+
				"files", name)
		}
		return meta{Name: name, Tree: sum.Hash, Files: sum.Files, Bytes: sum.Bytes}, err
	})
}

// filler creates the directory data with the files of a key, and describes them.
type filler func(ctx context.Context, data string) (meta, error)

// obtain returns files that are here, or obtains them by fill. addr names what needs
// them, for people.
func (s *Store) obtain(ctx context.Context, key, addr string, fill filler) (artifact.Held, error) {
	s.mu.Lock()
	h := s.keys[key]
	if h == nil {
		h = &holding{}
		s.keys[key] = h
	}
	s.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock != nil {
		held := h.held
		held.Fetched = false
		return held, nil
	}
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return artifact.Held{}, errStore(s.o.Dir, err)
	}
	for fetched := false; ; {
		lock, e, err := s.hold(key)
		if lock != nil {
			h.lock = lock
			_ = os.Chtimes(s.dir(key), time.Time{}, s.now()) // the last use only matters for the order
			h.held = artifact.Held{Entry: e, Dir: filepath.Join(runner.RealDir(s.o.Dir), key, dataName), Fetched: fetched}
			return h.held, nil
		}
		done := false
		if err == nil {
			done, err = s.bring(ctx, key, fill)
		}
		if err != nil {
			return artifact.Held{}, err
		}
		if fetched = fetched || done; done {
			continue
		}
		select { // another process fetches it, or removes it
		case <-ctx.Done():
			return artifact.Held{}, diag.Because(context.Cause(ctx), "Interrupted", "%s waited for files that another command fetches.",
				addr)
		case <-time.After(lookEvery):
		}
	}
}

// lookEvery is how often obtain checks whether another command has fetched files.
const lookEvery = 20 * time.Millisecond

// hold takes a shared lock of files that are here; nil if they are not, or another
// process has an exclusive lock. It does not wait: a command holds files for as long as
// it runs.
func (s *Store) hold(key string) (*durable.Lock, artifact.Entry, error) {
	lock, err := s.try(key, false)
	if lock == nil || err != nil {
		return nil, artifact.Entry{}, err
	}
	e, err := s.read(key)
	if err != nil {
		return nil, e, lock.Unlock()
	}
	return lock, e, nil
}

// try takes a lock if no other process has it; nil = another has.
func (s *Store) try(key string, alone bool) (*durable.Lock, error) {
	lock, err := durable.TryLock(s.lock(key), alone, s.o.Command)
	if diag.Is[*durable.LockedError](err) {
		return nil, nil
	}
	if err != nil {
		return nil, errStore(s.o.Dir, err)
	}
	if !lock.InPlace() { // its last exclusive holder has just removed the entry
		return nil, lock.Unlock()
	}
	return lock, nil
}

// bring fetches the files of a key, unless another process is fetching them or has done so.
func (s *Store) bring(ctx context.Context, key string, fill filler) (fetched bool, err error) {
	lock, err := s.try(key, true)
	if lock == nil || err != nil {
		return false, err
	}
	defer func() {
		if uerr := lock.Unlock(); err == nil {
			err = uerr
		}
	}()
	if _, err := s.read(key); err == nil {
		return false, nil
	}
	if err := s.fetch(ctx, key, fill); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added = true
	return true, nil
}

// Look implements artifact.Store.
func (s *Store) Look(key string) (artifact.Entry, bool) {
	e, err := s.read(key)
	return e, err == nil
}

// List implements artifact.Store.
func (s *Store) List() (list []artifact.Entry, err error) {
	keys, err := s.present()
	for _, key := range keys {
		if e, err := s.read(key); err == nil { // else it is being removed, or Verify reports it
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b artifact.Entry) int {
		return cmp.Or(b.Used.Compare(a.Used), strings.Compare(a.Key, b.Key))
	})
	return list, err
}

// present lists the keys that have a directory.
func (s *Store) present() (keys []string, err error) {
	entries, err := os.ReadDir(s.o.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasSuffix(e.Name(), draftSuffix) {
			keys = append(keys, e.Name())
		}
	}
	return keys, err
}

// Release implements artifact.Store.
func (s *Store) Release(needed func(key string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for key, h := range s.keys {
		if needed(key) || !h.mu.TryLock() { // locked: somebody is obtaining it
			continue
		}
		errs = append(errs, s.release(key, h))
		h.mu.Unlock()
	}
	return errors.Join(errs...)
}

// release releases the files of a key, if they are held.
func (s *Store) release(key string, h *holding) error {
	if h.lock == nil {
		return nil
	}
	_ = os.Chtimes(s.dir(key), time.Time{}, s.now()) // they were in use until now
	lock := h.lock
	h.lock = nil
	return lock.Unlock()
}

// Close implements artifact.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for key, h := range s.keys {
		errs = append(errs, s.release(key, h))
		delete(s.keys, key)
	}
	if s.added {
		s.added = false
		_, err := s.prune(context.Background(), false)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func errStore(dir string, err error) error {
	return diag.Because(err, "The store of artifacts is not usable",
		"%s: %s. It is a part of the data directory, which only root can write; see that there is room on its disk.", dir,
		diag.Visible(err.Error()))
}
