package containerd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"deployster/containerd/shim"
	"deployster/internal/invoke"
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
		r := open(t, o)
		dgst := packProbe(t, r)
		client, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		begun := make(chan struct{}, 2)
		run := func(kind invoke.Kind, script string) chan exit {
			ended := make(chan exit, 1)
			go func() {
				res, err := client.Run(context.Background(), invoke.Spec{Name: string(kind), Kind: kind, Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", script},
					Stdout: writerFunc(func(p []byte) (int, error) { begun <- struct{}{}; return len(p), nil })})
				ended <- exit{res.ExitCode, err}
			}()
			<-begun
			return ended
		}
		action := run(invoke.Action, "echo; sleep 4; exit 7") // the first that a sweep comes to
		query := run(invoke.Query, "echo; sleep 600")
		_ = client.held.file.Close() // without its lock it counts as dead
		if err := r.sweeper().sweep(context.Background(), true); err != nil {
			t.Error(err)
		}
		if e := <-query; e.err == nil && e.code == 0 {
			t.Error("the query of the dead was not ended")
		}
		if e := <-action; e.err != nil || e.code != 7 {
			t.Errorf("the action was ended: code %d, %v", e.code, e.err)
		}
		_ = client.Close() // it is dead
		eventually(t, 15*time.Second, "what is left is removed", func() bool {
			return r.sweeper().sweep(context.Background(), true) == nil && len(containerKinds(t, r)) == 0
		})
		nothingLeft(t, r)
	})
}
