package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/supervise"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

const testClientName = "deployster-test-client"

// clientJob is what another process shall run.
type clientJob struct {
	Address, DataDir, RuntimeDir, Runc string
	Spec                               runner.Spec
	IDs                                []string      // of actions like Spec, at one time, in workers; none = it is run itself
	Keep                               time.Duration // Spec is asked of a worker, which is kept; 0 = that is not so
	Recorded                           string        // Spec is run itself, and its end is written here; "" = that is not so
}

// testClient is the main function of that process.
func testClient() int {
	var job clientJob
	if err := json.Unmarshal([]byte(os.Args[1]), &job); err != nil {
		return 1
	}
	r, err := Open(context.Background(), Options{Address: job.Address, DataDir: job.DataDir, RuntimeDir: job.RuntimeDir, Runc: job.Runc, IdleExit: 30 * time.Second, Keep: job.Keep})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if job.Recorded != "" {
		job.Spec.Ended = func(res runner.Result, err error) error {
			return errors.Join(err, durable.WriteFile(job.Recorded, fmt.Append(nil, res.ExitCode), 0o600))
		}
		if _, err := r.Run(context.Background(), job.Spec); errors.Join(err, r.Close()) != nil {
			return 3
		}
		return 0
	}
	job.Spec.Stdout = os.Stdout
	if len(job.IDs) > 0 {
		pool := worker.New(worker.Options{Runner: r, Launcher: r, Max: 1})
		var running sync.WaitGroup
		for _, id := range job.IDs {
			s := job.Spec
			s.ID = id
			running.Go(func() { _, _ = pool.Run(context.Background(), s) }) // it is killed before
		}
		running.Wait()
		return 4
	}
	if job.Keep > 0 {
		pool := worker.New(worker.Options{Runner: r, Launcher: r, Max: 1, Keep: true})
		_, err := pool.Run(context.Background(), job.Spec)
		pool.Close()
		if errors.Join(err, r.Close()) != nil {
			return 3
		}
		return 0
	}
	if _, err := r.Run(context.Background(), job.Spec); err != nil {
		return 3
	}
	return 0
}

// startClient starts another process that runs something, and returns when the
// program there has printed its first line.
func startClient(t *testing.T, o Options, s runner.Spec, ids ...string) *exec.Cmd {
	t.Helper()
	b, err := json.Marshal(clientJob{Address: o.Address, DataDir: o.DataDir, RuntimeDir: o.RuntimeDir, Runc: o.Runc, Spec: s, IDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{testClientName, string(b)}}
	var stdout lockedBuffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "the other process's program runs", func() bool { return stdout.String() != "" })
	return cmd
}

func containerKinds(t *testing.T, r *Runtime) (kinds []string) {
	t.Helper()
	list, err := r.conn.Client.ContainerService().List(r.conn.Context(context.Background()))
	if err != nil {
		t.Error(err)
	}
	for _, c := range list {
		kinds = append(kinds, c.Labels[layout.LabelKind])
	}
	return kinds
}

// sweptAfterDeath kills two clients and checks what becomes of their
// containers: the query's is removed at once, the action's when it has ended.
// look makes someone sweep, where nobody does by himself.
func sweptAfterDeath(t *testing.T, o Options, r *Runtime, look func()) {
	t.Helper()
	dgst := packProbe(t, r)
	mark := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	query := startClient(t, o, runner.Spec{Name: "q", Kind: runner.Query, Digest: dgst, Args: []string{"ignore"}})
	action := startClient(t, o, runner.Spec{Name: "a", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Mounts: []runner.Mount{{Source: mark, Target: "/mark", Writable: true}},
		Args:   []string{"-c", "echo started; while ! [ -s /mark ]; do sleep 0.1; done; sleep 1; echo -n ' done' >>/mark"}})
	if kinds := containerKinds(t, r); len(kinds) != 2 {
		t.Fatalf("there are containers %q", kinds)
	}
	look()
	if kinds := containerKinds(t, r); len(kinds) != 2 {
		t.Fatalf("what belongs to the living was swept: %q", kinds)
	}
	for _, c := range []*exec.Cmd{query, action} {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
	}
	look()
	eventually(t, "the dead client's query is removed", func() bool {
		return strings.Join(containerKinds(t, r), " ") == string(runner.Action)
	})
	time.Sleep(1500 * time.Millisecond) // long enough for another sweep
	if kinds := containerKinds(t, r); len(kinds) != 1 {
		t.Fatalf("the action did not stay: %q", kinds)
	}
	if err := os.WriteFile(mark, []byte("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the action ends by itself", func() bool {
		b, err := os.ReadFile(mark)
		return err == nil && string(b) == "go done"
	})
	eventually(t, "the action's container is removed", func() bool {
		look()
		return len(containerKinds(t, r)) == 0
	})
	eventually(t, "the dead clients' files are removed", func() bool { return len(layout.Clients(o.RuntimeDir)) == 1 })
	nothingLeft(t, r)
}

func TestSweep_RemovesContainersOfADeadClient(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	sweptAfterDeath(t, o, r, func() {})
}

func TestSweep_RemovesContainersOfADeadClientFromADaemon(t *testing.T) {
	t.Parallel()
	o := ownDaemon(t)
	r := open(t, o)
	sweptAfterDeath(t, o, r, func() {
		// Whoever comes next sweeps, once, in the background.
		next, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		next.background.Wait()
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestServer_IsSharedAndLeaves(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.IdleExit = 1500 * time.Millisecond
	// Something inherited that the server must not keep.
	inherited, err := unix.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)

	var wg sync.WaitGroup
	runtimes := make([]*Runtime, 6)
	for i := range runtimes {
		wg.Go(func() {
			var err error
			if runtimes[i], err = Open(context.Background(), o); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if list := processesWith(o.RuntimeDir); len(list) != 1 {
		t.Errorf("there are %d servers: %q", len(list), list)
	}
	pid := serverPid(o)
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("the server is in session %d (%v)", sid, err)
	}
	for fd := range 2 {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err != nil || to != "/dev/null" && to != o.server().LogFile() {
			t.Errorf("the server's fd %d is %s (%v)", fd, to, err)
		}
	}
	if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, inherited)); err == nil {
		if mine, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", inherited)); mine == to {
			t.Errorf("the server has kept %s", to)
		}
	}
	dgst := packProbe(t, runtimes[0])
	if got := out(t, runtimes[1], dgst, "argv"); !strings.Contains(got, "argv") {
		t.Errorf("got %q", got)
	}
	for _, r := range runtimes {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	eventually(t, "the idle server leaves", func() bool { return !processLives(pid) })
	if _, err := os.Stat(o.RuntimeDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the runtime directory stays: %v", err)
	}
	// The next one has the images.
	next := open(t, o)
	if got := out(t, next, dgst, "argv"); !strings.Contains(got, "argv") {
		t.Errorf("got %q", got)
	}
	if serverPid(o) == pid {
		t.Error("it is the same server")
	}
}

// A server that is asked to go takes its directory along when nobody uses it: its data
// directory may be removed next, and no other server ever comes to tidy up.
func TestServer_StoppedLeavesNothing(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	pid := serverPid(o)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server ends", func() bool { return !processLives(pid) })
	if _, err := os.Stat(o.RuntimeDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the runtime directory stays: %v", err)
	}
}

func TestServer_LeavesWithItsData(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	dgst := packProbe(t, r)
	pid := serverPid(o)
	var first sync.Once
	running := make(chan struct{})
	ended := make(chan supervise.Exit)
	go func() {
		res, err := r.Run(context.Background(), runner.Spec{Kind: runner.Action, Digest: dgst, Args: []string{"ignore"},
			Stdout: writerFunc(func(p []byte) (int, error) { first.Do(func() { close(running) }); return len(p), nil })})
		ended <- supervise.Exit{Code: res.ExitCode, Err: err}
	}()
	<-running
	if err := os.Rename(o.DataDir, o.DataDir+".away"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server leaves", func() bool { return !processLives(pid) })
	// Killed or lost: in no case did it end well.
	if e := <-ended; e.Err == nil && e.Code != 128+int(unix.SIGKILL) {
		t.Errorf("the run ended with code %d", e.Code)
	}
	_ = r.Close() // what it would remove is gone with the server
	eventually(t, "the shims end", func() bool { return len(processesWith(o.RuntimeDir)) == 0 })
	if _, err := os.Stat(o.RuntimeDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the runtime directory stays: %v", err)
	}
}

// TestServer_LeavesWithItsRunc removes the runc too, as on a host, where it is installed
// in the data directory.
func TestServer_LeavesWithItsRunc(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	program, err := os.ReadFile(o.Runc)
	if err != nil {
		t.Fatal(err)
	}
	o.Runc = filepath.Join(o.DataDir, "runc")
	if err := os.WriteFile(o.Runc, program, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	dgst := packProbe(t, r)
	var first sync.Once
	running := make(chan struct{})
	go func() {
		_, _ = r.Run(context.Background(), runner.Spec{Kind: runner.Action, Digest: dgst, Args: []string{"ignore"}, // it is killed
			Stdout: writerFunc(func(p []byte) (int, error) { first.Do(func() { close(running) }); return len(p), nil })})
	}()
	<-running
	pid := serverPid(o)
	if len(cgroupsLeft(r.conn.ID)) == 0 {
		t.Fatal("it has no cgroup")
	}
	if err := os.RemoveAll(o.DataDir); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server leaves", func() bool { return !processLives(pid) })
	_ = r.Close() // what it would remove is gone with the server
	eventually(t, "the shims end", func() bool { return len(processesWith(o.RuntimeDir)) == 0 })
	if left := cgroupsLeft(r.conn.ID); len(left) > 0 {
		t.Errorf("cgroups are left: %q", left)
	}
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
