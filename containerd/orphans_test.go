package containerd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/snapshots"

	"deployster/containerd/shim"
	"deployster/internal/runner"
)

// What containerd has given up of a dead client's containers is ended and removed,
// and nothing of others.
func TestOrphansAreEnded(t *testing.T) {
	t.Parallel()
	needRoot(t)
	w := sweeper{namespace: "deployster", runtimeDir: t.TempDir(), embedded: true}
	dead, other := newID(), newID()
	ended := map[string]bool{} // by what it is; false = it is to live on
	procs := map[string]*exec.Cmd{}
	start := func(what string, ends bool, args ...string) {
		t.Helper()
		// As a shell whose name and arguments are those of a shim.
		cmd := &exec.Cmd{Path: "/bin/sh", Args: append([]string{filepath.Join(t.TempDir(), shim.Name), "-c", "read nothing"}, args...)}
		if _, err := cmd.StdinPipe(); err != nil { // which nobody writes to
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		procs[what], ended[what] = cmd, ends
	}
	start("its shim", true, "-namespace", "deployster", "-id", dead+"-3", "-address", "s")
	start("one that clears away", false, "-namespace", "deployster", "-id", dead+"-3", "delete")
	start("the shim of another client", false, "-namespace", "deployster", "-id", other+"-3")
	start("the shim of another namespace", false, "-namespace", "others", "-id", dead+"-3")
	start("its program", true)
	var group string
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} { // of version 1, or 2
		group = root + cgroupPath(dead) + "-3"
		if os.Mkdir(group, 0o755) == nil {
			break
		}
	}
	pid := []byte(strconv.Itoa(procs["its program"].Process.Pid))
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), pid, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{dead, other} {
		if err := os.MkdirAll(filepath.Join(w.runtimeDir, "runc", "deployster", id+"-3"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range procs {
		go func() { _ = cmd.Wait() }() // else it stays as a zombie
	}
	if err := w.removeOrphans(dead); err != nil {
		t.Error(err)
	}
	for what, ends := range ended {
		if ends {
			eventually(t, 10*time.Second, what+" ends", func() bool { return !processLives(procs[what].Process.Pid) })
		} else if !processLives(procs[what].Process.Pid) {
			t.Errorf("%s was ended", what)
		}
	}
	if exists(group) || exists(filepath.Join(w.runtimeDir, "runc", "deployster", dead+"-3")) || !exists(filepath.Join(w.runtimeDir, "runc", "deployster", other+"-3")) {
		t.Error("what is left is not what belongs to others")
	}
}

// What a dead client has left that still runs is no orphan, also when something
// else of his is removed meanwhile, by whoever looks for the leavings of all.
func TestWhatStillRunsIsNoOrphan(t *testing.T) {
	modes(t, func(t *testing.T, o Options, _, _ func()) {
		r, d := open(t, o), openDying(t, o)
		action := d.run(runner.Action, "echo; sleep 4; exit 7") // the first that a sweep comes to
		query := d.run(runner.Query, "echo; sleep 600")
		d.die()
		if err := r.sweeper().sweep(context.Background(), true); err != nil {
			t.Error(err)
		}
		if e := <-query; e.err == nil && e.code == 0 {
			t.Error("the query of the dead was not ended")
		}
		d.nothingIsLost(r, action)
		nothingLeft(t, r)
	})
}

// Who begins something and dies while others look for what the dead have left
// is not taken for one of them: they do not know what he has begun.
func TestWhoDiesLateIsForTheNextSweep(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r, d := open(t, o), openDying(t, o)
	query := d.run(runner.Query, "echo; sleep 600")
	var action chan exit
	s := r.sweeper()
	late, err := client.New("", client.WithServices(
		client.WithContainerStore(&lateStore{s.client.ContainerService(), func() {
			action = d.run(runner.Action, "echo; sleep 4; exit 7")
			d.die()
		}}),
		client.WithLeasesService(s.client.LeasesService()),
		client.WithSnapshotters(map[string]snapshots.Snapshotter{r.snapshotter: s.client.SnapshotService(r.snapshotter)}),
		client.WithTaskClient(s.client.TaskService())))
	if err != nil {
		t.Fatal(err)
	}
	s.client = late
	if err := s.sweep(context.Background(), true); err != nil {
		t.Error(err)
	}
	d.nothingIsLost(r, action)
	<-query // the next sweep has ended it
	nothingLeft(t, r)
}

// lateStore is a store after whose list something happens.
type lateStore struct {
	containers.Store
	happens func()
}

func (l *lateStore) List(ctx context.Context, filters ...string) ([]containers.Container, error) {
	list, err := l.Store.List(ctx, filters...)
	l.happens()
	return list, err
}

// dying is a client that others take for dead while the test still hears of it.
type dying struct {
	*Runtime
	t    *testing.T
	dgst string
}

func openDying(t *testing.T, o Options) dying {
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return dying{r, t, packProbe(t, r)}
}

// run gives how a script ends that has printed a line.
func (d dying) run(kind runner.Kind, script string) chan exit {
	begun := make(chan struct{}, 2)
	ended := make(chan exit, 1)
	go func() {
		res, err := d.Run(context.Background(), runner.Spec{Name: string(kind), Kind: kind, Digest: d.dgst, Entrypoint: "/bin/sh", Args: []string{"-c", script},
			Stdout: writerFunc(func(p []byte) (int, error) { begun <- struct{}{}; return len(p), nil })})
		ended <- exit{res.ExitCode, err}
	}()
	<-begun
	return ended
}

// die gives the lock up by which others know that it lives.
func (d dying) die() { _ = d.held.file.Close() }

// nothingIsLost checks that the action, which ends with code 7, ends so, and
// that all is swept then.
func (d dying) nothingIsLost(r *Runtime, action chan exit) {
	d.t.Helper()
	if e := <-action; e.err != nil || e.code != 7 {
		d.t.Errorf("the action was ended: code %d, %v", e.code, e.err)
	}
	_ = d.Close() // it is dead
	eventually(d.t, 15*time.Second, "what is left is removed", func() bool {
		return r.sweeper().sweep(context.Background(), true) == nil && len(containerKinds(d.t, r)) == 0
	})
}
