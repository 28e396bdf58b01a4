package containerd

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/containerd/idlepool"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/internal/runner"
)

// Somebody may still print when a query has ended, who holds an end of its pipe:
// that is its output too, and waited for, also where the server clears away.
func TestAllOfAQueryIsHeard(t *testing.T) {
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
		eventually(t, time.Minute, "it has ended", func() bool { return !processLives(pid) })
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

// query runs a query to its end, and reports whether the server was given what is
// left of it.
func query(t *testing.T, r *Runtime, dgst string) (given bool) {
	t.Helper()
	res, err := r.Run(context.Background(), runner.Spec{Name: "q", Kind: runner.Query, Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", "echo out; exit 7"}})
	if err != nil || res.ExitCode != 7 || string(res.Stdout) != "out\n" {
		t.Errorf("%+v, %v", res, err)
	}
	return r.cleanup.Count() > 0
}

// Whatever becomes of the client, or of the server, or of what they say to each
// other: nothing of a query is left.
func TestTheServerClearsAway(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	client := func() *Runtime {
		c, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	end := func(c *Runtime) {
		t.Helper()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		swept(t, r)
	}

	c := client()
	if !query(t, c, dgst) {
		t.Error("the server was given nothing")
	}
	end(c)

	c = client()
	var group errgroup.Group
	group.SetLimit(8)
	for range 12 {
		group.Go(func() error { query(t, c, dgst); return nil })
	}
	_ = group.Wait() // query tells by itself
	end(c)

	// One that was killed has not said that it leaves.
	c = client()
	query(t, c, dgst)
	if c.cleanup.Count() == 0 {
		t.Fatal("the server was given nothing")
	}
	c.cleanup.Close()
	_ = c.conn.Lock.File.Close()
	swept(t, r)
	_ = c.Close() // it is dead
}

// A server may be of another version, or fail, or be lost with all that it has.
func TestTheServerDoesNotClearAway(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	var does atomic.Value // what the server does
	between(t, o, func(c *net.UnixConn, _ forwarder, m idlepool.Message, _, _ *os.File) {
		switch does.Load() {
		case "fails":
			_ = idlepool.Send(c, idlepool.Message{Finished: m.Finished, Failed: true})
		case "is lost":
			for err := error(nil); err == nil && !m.Rest; {
				m, _, _, err = idlepool.Receive(c)
			}
			if !m.Rest {
				t.Error("the client did not say that it leaves")
			}
		}
	})
	for _, what := range []string{"knows nothing", "fails", "is lost"} {
		does.Store(what)
		c, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if !query(t, c, dgst) {
				t.Errorf("a server that %s was not asked", what)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(what, err)
		}
		swept(t, r)
	}
}

// A server that is asked to end, or is killed, leaves what it was given to the
// client or to the next server.
func TestTheServerEndsOverIt(t *testing.T) {
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
		eventually(t, time.Minute, "the server has ended", func() bool { return !processLives(pid) })
		// One that was killed may be listening a moment longer.
		eventually(t, time.Minute, "another one has swept", func() bool {
			return r.conn.Revive(context.Background()) == nil && len(layout.Clients(o.RuntimeDir)) == 1
		})
		swept(t, r)
	}
}
