package containerd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/cgroups/v3"
	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/sandbox"
	"deployster/internal/runtime/runner"
)

// rounds says how often something is tried: a few times with every change, and
// as often as it takes in `make crash`.
func rounds(few, all int) int {
	if os.Getenv("DEPLOYSTER_CRASH") == "all" {
		return all
	}
	return few
}

// ends are how runs ended while their server was killed again and again.
type ends struct {
	*testing.T
	r        *Runtime
	embedded bool
	world    string // each program that begins makes a file in it

	mu                             sync.Mutex
	runs, begun, seen, asked, lost int // lost = began, and nobody can know how it ended
}

// TestServer_IsKilled kills the server again and again, at any moment, and starts
// it anew when nobody else does. What had begun is waited for, and says truly how
// it ended, also what ends while there is no server, and with the code that
// stands for a lost one. The embedded server loses nothing; what a daemon has
// forgotten is told as unknown, and never as anything else. What is not begun yet
// is tried again, or refused.
func TestServer_IsKilled(t *testing.T) {
	modes(t, func(t *testing.T, o Options, kill, restart func()) {
		e := &ends{T: t, r: open(t, o), embedded: o.Address == "", world: t.TempDir()}
		dgst := packProbe(t, e.r)
		halfMade(t, e.r)
		for round := range rounds(5, 100) {
			var group sync.WaitGroup
			ready := make(chan struct{}, 10)
			for i, code := range []int{255, 7, 0} {
				group.Add(1)
				go func() {
					defer group.Done()
					var once sync.Once
					e.run(runner.Spec{Name: fmt.Sprint(i), ID: fmt.Sprintf("%d/%d", round, i), Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
						Mounts: []runner.Mount{{Source: e.world, Target: "/world", Writable: true}},
						Args:   []string{"-c", fmt.Sprintf(">/world/%d-%d; echo before; sleep 0.%d; echo after; exit %d", round, i, rand.IntN(9), code)},
						Stdout: writerFunc(func(p []byte) (int, error) { once.Do(func() { ready <- struct{}{} }); return len(p), nil })}, code)
				}()
			}
			if round%3 > 0 {
				select {
				case <-ready: // at least one runs
				case <-time.After(time.Minute):
					t.Error("none runs")
				}
			}
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			kill()
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			restart()
			group.Wait()
		}
		t.Logf("%d kills; of %d runs %d began, of which %d were seen to their end, %d of them when asked for later, and %d are told as unknown",
			rounds(5, 100), e.runs, e.begun, e.seen, e.asked, e.lost)
		if e.seen+e.lost != e.begun || e.seen == 0 || e.embedded && e.lost > 0 {
			t.Error("that is not all of them")
		}
		if err := e.r.Close(); err != nil {
			t.Error(err)
		}
		next := open(t, o)
		eventually(t, "what the kills have left is removed", func() bool {
			return next.sweeper().Sweep(context.Background(), true) == nil && len(cgroupsLeft(e.r.conn.ID))+len(layout.Clients(o.RuntimeDir)) == 1
		})
		if kinds := containerKinds(t, next); len(kinds) > 0 {
			t.Errorf("containers are left: %q", kinds)
		}
	})
}

// A client that lives on when its server is killed has nothing of its containers left that
// the next server knows nothing of: it lives for months, and the server dies now and then.
func TestServer_IsKilledLeavesNoShims(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	for range rounds(6, 100) {
		ctx, stop := context.WithCancel(context.Background())
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for ctx.Err() == nil { // what cannot be known of a query is its error
					_, _ = r.Run(context.Background(), runner.Spec{Name: "q", Kind: runner.Query, Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", ":"}})
				}
			})
		}
		time.Sleep(time.Duration(500+rand.IntN(1000)) * time.Millisecond)
		pid := serverPid(o)
		if pid == 0 {
			t.Fatal("there is no server")
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
		stop()
		group.Wait()
	}
	shims := func() []int { return pidsWith("shim", "\x00"+r.conn.ID+"-") }
	eventually(t, "nothing of its containers is left", func() bool { return len(shims())+len(cgroupsLeft(r.conn.ID)) == 0 })
	if t.Failed() {
		t.Logf("shims: %v, %d cgroups", shims(), len(cgroupsLeft(r.conn.ID)))
	}
}

// halfMade makes what a runc leaves that dies while it makes a container.
func halfMade(t *testing.T, r *Runtime) {
	t.Helper()
	root := "/sys/fs/cgroup"
	if cgroups.Mode() != cgroups.Unified {
		root += "/pids"
	}
	if err := os.Mkdir(filepath.Join(root, sandbox.CgroupPath(r.conn.NewContainerID())), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs a program that ends with a code, and judges what is said of it.
func (e *ends) run(s runner.Spec, code int) {
	told := 0
	s.Ended = func(runner.Result, error) error { told++; return nil }
	res, err := e.r.Run(context.Background(), s)
	var unknown *runner.UnknownError
	var later runner.Outcome
	if errors.As(err, &unknown) {
		var cannot error
		if later, cannot = e.r.Adopt(context.Background(), s.ID, runner.Watch{}); cannot != nil {
			e.Error(cannot)
		}
	}
	_, stat := os.Stat(filepath.Join(e.world, strings.ReplaceAll(s.ID, "/", "-")))
	begun := stat == nil
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs++; begun {
		e.begun++
	}
	whole := func(r runner.Result) bool { return r.ExitCode == code && string(r.Stdout) == "before\nafter\n" }
	switch {
	case err == nil && begun && whole(res) && told == 1:
		e.seen++
	case unknown != nil && begun && later.Fate == runner.Exited && whole(later.Result) && told == 0:
		e.seen, e.asked = e.seen+1, e.asked+1
	case unknown != nil && begun && later.Fate == runner.Unknown && told == 0 && res.ExitCode == 0 && len(res.Stdout) == 0:
		e.lost++
		e.Logf("%s: %v; %s", s.ID, err, later.Why)
	case begun:
		e.Errorf("%s, code %d: %+v, %v; told %d times; later %+v", s.ID, code, res, err, told, later)
	case err != nil && told == 0 && len(res.Stdout) == 0 && later.Fate != runner.Exited:
		e.Logf("%s did not begin: %v", s.ID, err) // the server that came back could not begin it
	case err == nil && bytes.Contains(res.Stderr, []byte("write exec fifo")) && len(res.Stdout) == 0:
		e.Logf("%s did not begin: %s", s.ID, res.Stderr) // runc was cut off, and says so
	default:
		e.Errorf("%s, code %d, did not begin: %+v, %v; told %d times; later %+v", s.ID, code, res, err, told, later)
	}
}

// A client whose server was killed a moment ago can still be closed: nothing of
// it is left.
func TestRuntime_ClosedAfterItsServerWasKilled(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	if _, err := r.Run(context.Background(), runner.Spec{Name: "a", Digest: dgst, Entrypoint: "/bin/true"}); err != nil {
		t.Fatal(err)
	}
	pid := serverPid(o)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is dead", func() bool { return !processLives(pid) })
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
