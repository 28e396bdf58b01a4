package containerd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
)

// Somebody may still print when a query has ended, who holds an end of its pipe:
// that is its output too, and waited for, also where the container is removed later.
func TestRemoveLater_AllOutputIsHeard(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := packProbe(t, r)
	for _, hold := range []time.Duration{0, 5 * time.Millisecond, 4 * runfiles.LastWordsLimit} {
		mark := filepath.Join(t.TempDir(), "mark")
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s := runner.Spec{Name: "q", Kind: runner.Query, Digest: dgst, Entrypoint: "/bin/sh", Timeout: time.Minute, Mounts: []runner.Mount{{Source: mark, Target: "/mark"}},
			Args: []string{"-c", "echo early; echo early >&2; while ! [ -s /mark ]; do sleep 0.01; done; echo last; echo last >&2"}}
		said := make(chan struct{})
		var once sync.Once
		s.Stderr = writerFunc(func(p []byte) (int, error) { once.Do(func() { close(said) }); return len(p), nil })
		whole := make(chan string, 1)
		go func() {
			res, err := r.Run(context.Background(), s)
			whole <- fmt.Sprintf("%s%s%d %v", res.Stdout, res.Stderr, res.ExitCode, err)
		}()
		<-said
		list, _ := filepath.Glob(filepath.Join(r.conn.IODir(), "*", runfiles.StdoutFile))
		if len(list) != 1 {
			t.Fatal(list)
		}
		pid := workerPid(t, r, filepath.Base(filepath.Dir(list[0])))
		var ends []*os.File
		for _, fd := range []string{"1", "2"} {
			f, err := os.OpenFile(filepath.Join("/proc", strconv.Itoa(pid), "fd", fd), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, f)
		}
		if err := os.WriteFile(mark, []byte("go"), 0o600); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it has ended", func() bool { return !processLives(pid) })
		time.Sleep(hold)
		for _, f := range ends {
			_, _ = f.WriteString("late\n") // what is lost is seen below
			_ = f.Close()
		}
		if got := <-whole; got != "early\nlast\nlate\nearly\nlast\nlate\n0 <nil>" {
			t.Errorf("held for %s: %q", hold, got)
		}
	}
	nothingLeft(t, r)
}

// query runs a query to its end.
func query(t *testing.T, r *Runtime, dgst string) {
	t.Helper()
	res, err := r.Run(context.Background(), runner.Spec{Name: "q", Kind: runner.Query, Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", "echo out; exit 7"}})
	if err != nil || res.ExitCode != 7 || string(res.Stdout) != "out\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// Whatever becomes of the client: nothing of a query is left.
func TestRemoveLater_ClientEnds(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	ends := map[string]struct {
		queries int
		end     func(*Runtime)
	}{
		"at once": {1, func(c *Runtime) {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if !c.conn.Dirty.Load() {
				t.Error("it has waited for the removal")
			}
		}},
		"with many": {12, func(c *Runtime) {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}},
		"later": {2, func(c *Runtime) {
			c.runsOpen.Wait()
			if err := c.Close(); err != nil || c.conn.Dirty.Load() {
				t.Errorf("it has not removed all: %v", err)
			}
		}},
		"killed": {1, func(c *Runtime) {
			_ = c.conn.Lock.File.Close()
			swept(t, r)
			_ = c.Close() // it is dead
		}},
	}
	for name, e := range ends {
		t.Run(name, func(t *testing.T) {
			c, err := Open(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			var group errgroup.Group
			for range e.queries {
				group.Go(func() error { query(t, c, dgst); return nil })
			}
			_ = group.Wait() // query tells by itself
			e.end(c)
			swept(t, r)
		})
	}
}

// A server that is ended while it removes a task's directories has renamed them first.
func TestServer_RemovesWhatItBeganToRemove(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	var halfGone []string
	for _, dir := range []string{o.server().State(), o.server().Root()} {
		path := filepath.Join(dir, "io.containerd.runtime.v2.task", o.Namespace, ".abc-1")
		if err := os.MkdirAll(filepath.Join(path, "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		halfGone = append(halfGone, path)
	}
	pid := serverPid(o)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server has ended", func() bool { return !processLives(pid) })
	eventually(t, "another one serves", func() bool { // the one that was killed may be listening a moment longer
		return r.conn.Revive(context.Background()) == nil && serverPid(o) != 0 && serverPid(o) != pid
	})
	for _, path := range halfGone {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left (%v)", path, err)
		}
	}
	nothingLeft(t, r)
}

// What a server that ends or is killed has not removed, the next one removes.
func TestRemoveLater_ServerEnds(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		c, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		pid := serverPid(o)
		query(t, c, dgst)
		query(t, c, dgst)
		if err := unix.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(sig, err)
		}
		eventually(t, "the server has ended", func() bool { return !processLives(pid) })
		// One that was killed may be listening a moment longer.
		eventually(t, "another one has swept", func() bool {
			return r.conn.Revive(context.Background()) == nil && len(layout.Clients(o.RuntimeDir)) == 1
		})
		swept(t, r)
	}
}

// act runs an action to its end, and reports whether its container existed a moment later.
func act(t *testing.T, r *Runtime, s runner.Spec, ended error) (res runner.Result, exists bool, err error) {
	t.Helper()
	s.Name, s.Kind, s.Entrypoint, s.ID = "a", runner.Action, "/bin/sh", "action"
	recorded := false
	s.Ended = func(runner.Result, error) error {
		recorded = len(containerKinds(t, r)) == 1 // it is the proof until then
		return ended
	}
	res, err = r.Run(context.Background(), s)
	exists = len(containerKinds(t, r)) == 1
	if !recorded {
		t.Error("its container was gone before its end was recorded")
	}
	return res, exists, err
}

// Nobody waits until the container of an action is removed that has succeeded and whose end is recorded. All others
// are removed before, or left for whoever asks how they ended.
func TestRemoveNow_ActionThatSucceeded(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	c, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	behind := 0
	for range 5 { // on a busy machine it may be gone already
		res, exists, err := act(t, c, runner.Spec{Digest: dgst, Args: []string{"-c", "echo out; echo err >&2"}}, nil)
		if got := string(res.Stdout) + string(res.Stderr); err != nil || res.ExitCode != 0 || got != "out\nerr\n" {
			t.Errorf("%q, %d, %v", got, res.ExitCode, err)
		}
		if exists {
			behind++
		}
		c.runsOpen.Wait()
		if kinds := containerKinds(t, r); len(kinds) > 0 {
			t.Errorf("left: %q", kinds)
		}
	}
	if behind == 0 {
		t.Error("all have waited for the removal")
	}
	if _, exists, err := act(t, c, runner.Spec{Digest: dgst, Args: []string{"-c", "exit 7"}}, nil); err != nil || exists {
		t.Errorf("one that failed and may be repeated: exists: %v, %v", exists, err)
	}
	secret := runner.Spec{Digest: dgst, Args: []string{"-c", ":"}, Confidential: true}
	if _, exists, err := act(t, c, secret, nil); err != nil || exists {
		t.Errorf("one with a secret: exists: %v, %v", exists, err)
	}
	// The Runtime is closed when all is removed.
	if _, _, err := act(t, c, runner.Spec{Digest: dgst, Args: []string{"-c", ":"}}, nil); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil || c.conn.Dirty.Load() || len(containerKinds(t, r)) > 0 {
		t.Errorf("it was closed before: %v", err)
	}
	nothingLeft(t, r)
}

// The container of an action whose end could not be recorded is the only proof of it.
func TestRemoveNow_NotBeforeItsEndIsRecorded(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	c, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if _, exists, err := act(t, c, runner.Spec{Digest: dgst, Args: []string{"-c", ":"}}, full); !errors.Is(err, full) || !exists {
		t.Errorf("exists: %v, %v", exists, err)
	}
	c.runsOpen.Wait()
	if kinds := containerKinds(t, r); len(kinds) != 1 {
		t.Errorf("left: %q", kinds)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if out, err := r.Adopt(context.Background(), "action", runner.Watch{}); err != nil || out.Fate != runner.Exited || out.ExitCode != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := r.Discard(context.Background(), "action"); err != nil {
		t.Error(err)
	}
	swept(t, r)
}
