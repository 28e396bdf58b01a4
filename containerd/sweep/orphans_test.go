package sweep

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"deployster/containerd/layout"
	"deployster/containerd/sandbox"
	"deployster/containerd/shim"
)

// What containerd has given up of a dead client's containers is ended and removed,
// and nothing of others.
func TestSweep_EndsOrphans(t *testing.T) {
	t.Parallel()
	needRoot(t)
	w := Sweeper{Namespace: "deployster", RuntimeDir: t.TempDir(), Embedded: true}
	dead, other := layout.NewID(), layout.NewID()
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
	start("what starts another of its shims", false, "-namespace", "deployster", "-id", dead+"-5", "start")
	start("its program", true)
	var group string
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} { // of version 1, or 2
		group = root + sandbox.CgroupPath(dead) + "-3"
		if os.Mkdir(group, 0o755) == nil {
			break
		}
	}
	pid := []byte(strconv.Itoa(procs["its program"].Process.Pid))
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), pid, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{dead, other} {
		if err := os.MkdirAll(filepath.Join(w.RuntimeDir, "runc", "deployster", id+"-3"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range procs {
		go func() { _ = cmd.Wait() }() // else it stays as a zombie
	}
	if err := w.EndOrphan(dead + "-4"); err != nil || !processLives(procs["its shim"].Process.Pid) || !processLives(procs["its program"].Process.Pid) {
		t.Errorf("what is left of another container was ended (%v)", err)
	}
	if gone, err := w.removeOrphans(dead); gone || err != nil {
		t.Errorf("while a shim may still be started: %v, %v", gone, err)
	}
	for what, ends := range ended {
		if ends {
			eventually(t, what+" ends", func() bool { return !processLives(procs[what].Process.Pid) })
		} else if !processLives(procs[what].Process.Pid) {
			t.Errorf("%s was ended", what)
		}
	}
	if layout.Exists(group) || layout.Exists(filepath.Join(w.RuntimeDir, "runc", "deployster", dead+"-3")) || !layout.Exists(filepath.Join(w.RuntimeDir, "runc", "deployster", other+"-3")) {
		t.Error("what is left is not what belongs to others")
	}
	starter := procs["what starts another of its shims"].Process
	if err := starter.Kill(); err != nil {
		t.Error(err)
	}
	eventually(t, "it ends", func() bool { return !processLives(starter.Pid) })
	if gone, err := w.removeOrphans(dead); !gone || err != nil {
		t.Errorf("when no shim can be started any more: %v, %v", gone, err)
	}
}
