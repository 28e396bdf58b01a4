package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
)

var _ artifact.Store = (*Store)(nil)

// env is a store over a world with three versions.
type env struct {
	*Store
	world *artifacttest.World
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := newWorld()
	l := &env{New(Options{Dir: filepath.Join(t.TempDir(), "store"), Client: w, Command: "test"}), w}
	t.Cleanup(func() { l.close(t) })
	return l
}

func (l *env) close(t *testing.T) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// other is another process's store in the same directory.
func (l *env) other(t *testing.T) *env {
	o := &env{New(l.o), l.world}
	t.Cleanup(func() { o.close(t) })
	return o
}

func order(ref string) artifact.Order {
	t := artifact.Target{Address: "artifact.a", Reference: "line"}
	return artifact.Order{Name: "a", Target: t, Recipe: artifact.NewRecipe(artifact.Info{Protocol: artifact.Artifacts2, Digest: "sha256:line"},
		runner.Settings{}, json.RawMessage(`{"password":"hunter2"}`), nil, artifact.Versioned{Space: "main", Version: artifact.Version{"ref": ref}})}
}

func (l *env) fetch(t *testing.T, ref string) artifact.Held {
	t.Helper()
	h, err := l.Fetch(t.Context(), order(ref))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(h.Dir, "version")); string(b) != ref+"\n" || err != nil {
		t.Errorf("version %s is %q, %v", ref, b, err)
	}
	return h
}

func (l *env) gets() (n int) {
	for _, line := range l.world.TakeLog() {
		if strings.HasPrefix(line, "get") {
			n++
		}
	}
	return n
}

func TestStore_FetchesOnce(t *testing.T) {
	l := newEnv(t)
	first := l.fetch(t, "1")
	if !first.Fetched || first.Files != 1 || first.Bytes != 2 || !strings.HasPrefix(first.Tree, "sha256:") {
		t.Errorf("%+v", first)
	}
	if again := l.fetch(t, "1"); again.Fetched || again.Tree != first.Tree {
		t.Errorf("again: %+v", again)
	}
	if later := l.other(t).fetch(t, "1"); later.Fetched {
		t.Errorf("another command: %+v", later)
	}
	if n := l.gets(); n != 1 {
		t.Errorf("%d gets", n)
	}
	var wg sync.WaitGroup
	for range 4 {
		o := l.other(t)
		for range 4 {
			wg.Go(func() {
				if _, err := o.Fetch(t.Context(), order("2")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := l.gets(); n != 1 {
		t.Errorf("%d gets of what 16 wanted", n)
	}
	if e, ok := l.Look(first.Key); !ok || e.Name != "a" || !e.Version.Is(artifact.Version{"ref": "1"}) {
		t.Errorf("%+v, %v", e, ok)
	}
	if list, err := l.List(); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Who has the lock after another brought the files in does not bring them in again.
func TestStore_ChecksAgainUnderTheLock(t *testing.T) {
	l := newEnv(t)
	key := l.fetch(t, "1").Key
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	fill := func(context.Context, string) (meta, error) { t.Error("it is brought in again"); return meta{}, nil }
	if fetched, err := l.other(t).Store.bring(t.Context(), key, fill); fetched || err != nil {
		t.Errorf("fetched %v, %v", fetched, err)
	}
}

// An entry that is of another key or another format is none: it is fetched anew.
func TestStore_ReadsWhatIsOfTheKey(t *testing.T) {
	for was, is := range map[string]string{`"format":1`: `"format":2`, `"key":"`: `"key":"0`} {
		l := newEnv(t)
		e := l.fetch(t, "1")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(l.dir(e.Key), metaName)
		b, err := os.ReadFile(name)
		if err = errors.Join(err, os.WriteFile(name, bytes.Replace(b, []byte(was), []byte(is), 1), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, local := l.Look(e.Key); local {
			t.Errorf("%s is taken", is)
		}
		if h := l.other(t).fetch(t, "1"); !h.Fetched {
			t.Errorf("%s: it is not fetched anew", is)
		}
	}
}

// Who waits for files has them as soon as they are there, and not only when the command
// that brought them in has ended.
func TestStore_WaitsForTheFilesOnly(t *testing.T) {
	l := newEnv(t)
	o := l.other(t)
	began, goOn := make(chan bool), make(chan bool)
	l.o.Client = taking{l.world, func(string) error { close(began); <-goOn; return nil }}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = l.Fetch(t.Context(), order("1")) })
	<-began
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if h, err := o.Fetch(ctx, order("1")); err != nil || h.Fetched {
			t.Errorf("%+v, %v", h, err)
		}
	})
	time.Sleep(3 * lookEvery)
	close(goOn)
	wg.Wait()
}

func TestStore_KeepsNoSecret(t *testing.T) {
	l := newEnv(t)
	l.fetch(t, "1")
	_ = filepath.WalkDir(l.o.Dir, func(path string, e os.DirEntry, err error) error {
		if b, _ := os.ReadFile(path); err != nil || strings.Contains(string(b), "hunter2") {
			t.Errorf("%s: %q, %v", path, b, err)
		}
		return nil
	})
}

func TestStore_FailureLeavesNothing(t *testing.T) {
	l := newEnv(t)
	refuse := func(name string, want artifact.Class) {
		t.Helper()
		if _, err := l.Fetch(t.Context(), order("1")); artifact.ClassOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		entries, err := os.ReadDir(l.o.Dir)
		if err != nil || slices.ContainsFunc(entries, os.DirEntry.IsDir) {
			t.Errorf("%s leaves %v, %v", name, entries, err)
		}
	}
	l.world.Fail(artifact.StepGet, &artifact.Error{Class: artifact.Failed, Err: errors.New("gone")})
	refuse("a version that is gone", artifact.Failed)
	l.world.Fail(artifact.StepGet, nil)
	real := l.o.Client
	l.o.Client = taking{l.world, func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600) }}
	refuse("a FIFO", artifact.Refused)
	ctx, cancel := context.WithCancel(t.Context())
	l.o.Client = taking{l.world, func(string) error { cancel(); return nil }}
	if _, err := l.Fetch(ctx, order("1")); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	l.o.Client = real
	l.fetch(t, "1")
}

// taking spoils what a get brings.
type taking struct {
	*artifacttest.World
	spoil func(dir string) error
}

func (c taking) Get(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.GetInput) (artifact.Metadata, error) {
	take := in.Take
	in.Take = func(dir string) error { return errors.Join(c.spoil(dir), take(dir)) }
	return c.World.Get(ctx, t, i, in)
}

func TestStore_SweepsDrafts(t *testing.T) {
	l := newEnv(t)
	key := l.fetch(t, "1").Key
	dead := strings.Repeat("0", 64)
	for _, k := range []string{key, dead} {
		if err := os.MkdirAll(filepath.Join(l.draft(k), dataName), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Prune(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.draft(dead)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft of a dead process stays: %v", err)
	}
	if _, err := os.Stat(l.draft(key)); err != nil {
		t.Errorf("a draft whose key is locked goes: %v", err)
	}
	if err := os.RemoveAll(l.draft(key)); err != nil {
		t.Fatal(err)
	}
}

func TestStore_PrunesWhatNobodyHolds(t *testing.T) {
	l := newEnv(t)
	keys := map[string]string{}
	usedLongAgo := func() {
		t.Helper()
		for i, ref := range []string{"1", "2", "3"} {
			used := time.Now().Add(time.Duration(i-10) * time.Hour)
			if err := os.Chtimes(l.dir(keys[ref]), used, used); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, ref := range []string{"1", "2", "3"} {
		keys[ref] = l.fetch(t, ref).Key
	}
	usedLongAgo()
	names := func(list []artifact.Entry) (out []string) {
		for _, e := range list {
			out = append(out, e.Version.String())
		}
		return out
	}
	prune := func(all bool, want ...string) {
		t.Helper()
		got, err := l.other(t).Prune(t.Context(), all)
		if err != nil || !slices.Equal(names(got), want) {
			t.Errorf("removed %v, want %v (%v)", names(got), want, err)
		}
	}
	l.o.Max = 1
	prune(true)
	prune(false)
	l.added = false
	l.close(t)
	usedLongAgo()
	l.o.Max = 2 * (perFile + 2)
	prune(false, "1")
	if err := os.Chtimes(l.dir(keys["2"]), time.Time{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	l.o.Max = 1
	prune(false, "3") // the other was used just now
	prune(true, "2")
	if list, err := l.List(); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", names(list), err)
	}
}

func TestStore_ClosePrunesAfterAnAddition(t *testing.T) {
	l := newEnv(t)
	old := l.fetch(t, "1").Key
	l.close(t)
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(l.dir(old), long, long); err != nil {
		t.Fatal(err)
	}
	l.o.Max = 1
	o := l.other(t)
	now := o.fetch(t, "2").Key
	o.close(t)
	if _, ok := o.Look(old); ok {
		t.Error("what was used long ago is still there")
	}
	if _, ok := o.Look(now); !ok {
		t.Error("what was used just now is gone")
	}
}

func TestStore_VerifyFindsDamage(t *testing.T) {
	l := newEnv(t)
	for name, spoil := range map[string]func(dir string) error{
		"content": func(dir string) error { return os.WriteFile(filepath.Join(dir, "data/version"), []byte("x\n"), 0o644) },
		"more":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "data/more"), nil, 0o644) },
		"no meta": func(dir string) error { return os.Remove(filepath.Join(dir, "meta.json")) },
		"no data": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "data")) },
	} {
		key := l.fetch(t, "1").Key
		l.fetch(t, "2")
		if err := spoil(l.dir(key)); err != nil {
			t.Fatal(err)
		}
		held, err := l.other(t).Verify(t.Context())
		if err != nil || len(held) != 1 || held[0].Entry.Key != key || held[0].Reason == "" || held[0].Removed {
			t.Errorf("%s while it is held: %+v, %v", name, held, err)
		}
		l.close(t)
		if found, err := l.Verify(t.Context()); err != nil || len(found) != 1 || !found[0].Removed {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		if found, err := l.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("%s, again: %+v, %v", name, found, err)
		}
	}
}

// An entry that lost its meta or its data, as no crash leaves it, is brought in anew.
func TestStore_MendsWhatIsNotAnEntry(t *testing.T) {
	l := newEnv(t)
	key := l.fetch(t, "1").Key
	l.close(t)
	if err := os.WriteFile(filepath.Join(l.dir(key), metaName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h := l.fetch(t, "1"); !h.Fetched {
		t.Errorf("%+v", h)
	}
}

// FuzzMeta reads what lies beside the files of an entry, which a verification keeps only where
// it says what they are.
func FuzzMeta(f *testing.F) {
	key := strings.Repeat("a", 64)
	f.Add([]byte(`{"format":1,"key":"` + key + `","name":"site","version":{"ref":"1"},"tree":"sha256:00","files":1,"bytes":2,"got":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"format":1,"key":"` + key + `","version":{"ref":null},"metadata":[{"name":1}]}`))
	f.Add([]byte(`{"format":2,"key":"b"}`))
	f.Add([]byte("null"))
	if sum, err := tree.Measure(f.Context(), f.TempDir()); err == nil { // of no files
		f.Add([]byte(`{"format":1,"key":"` + key + `","tree":"` + sum.Hash + `"}`))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s := New(Options{Dir: t.TempDir()})
		if err := errors.Join(os.MkdirAll(filepath.Join(s.dir(key), dataName), 0o755),
			os.WriteFile(filepath.Join(s.dir(key), metaName), content, 0o600)); err != nil {
			t.Fatal(err)
		}
		sum, err := tree.Measure(t.Context(), filepath.Join(s.dir(key), dataName))
		before, kept := s.Look(key)
		if kept && before.Key != key {
			t.Errorf("%+v", before)
		}
		damaged, verr := s.Verify(t.Context())
		if err = errors.Join(err, verr); err != nil {
			t.Fatal(err)
		}
		if _, local := s.Look(key); local != (kept && before.Tree == sum.Hash) || local == (len(damaged) > 0) {
			t.Errorf("%+v is kept: %v, damaged: %v", before, local, damaged)
		}
	})
}

func newWorld() *artifacttest.World {
	w := artifacttest.NewWorld()
	w.AddImage("line", artifact.Artifacts2)
	w.Change(`{"password":"hunter2"}`, func(l *artifacttest.Line) {
		for _, ref := range []string{"1", "2", "3"} {
			l.Spaces["main"] = append(l.Spaces["main"], artifact.Versioned{Space: "main", Version: artifact.Version{"ref": ref}})
		}
	})
	return w
}
