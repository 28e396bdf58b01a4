package containerd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deployster/containerd/server"
	"deployster/containerd/shim"
	"deployster/internal/runner"
)

// The containers of these tests run under the program that is only the shim:
// what its build makes has carried them all.
func TestContainersRunUnderTheLightShim(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(filepath.Join(filepath.Dir(self), server.ShimProgram))
	if err != nil {
		t.Fatal(err)
	}
	var running []string
	res, err := r.Run(context.Background(), runner.Spec{Name: "light", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", "echo begun; sleep 1; exit 7"},
		Stdout: writerFunc(func(p []byte) (int, error) {
			for _, s := range server.Shims(o.server()) {
				have, err := os.Stat(filepath.Join("/proc", fmt.Sprint(s.Pid), "exe"))
				if err == nil && (os.SameFile(have, want) || have.Size() == want.Size()) {
					running = append(running, s.Container)
				}
			}
			return len(p), nil
		})})
	if err != nil || res.ExitCode != 7 || string(res.Stdout) != "begun\n" {
		t.Errorf("it ended with %+v, %v", res, err)
	}
	if len(running) != 1 || !strings.HasPrefix(running[0], r.conn.ID) {
		t.Errorf("while it ran there were light shims for %q", running)
	}
	nothingLeft(t, r)
}

// A new server ends the shims that were there before it and that it finds no task
// of. It lets live those of its tasks, those that came after it, and a process that
// has the number of a shim that has ended meanwhile.
func TestShimsWithoutATaskAreEnded(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	like := func(container string) *exec.Cmd {
		cmd := exec.Command("/bin/sh")
		cmd.Args = []string{filepath.Join(o.server().Bin(), shim.Name), "-c", "read end", "-id", container}
		in, err := cmd.StdinPipe()
		if err != nil || cmd.Start() != nil {
			t.Fatal("it does not start")
		}
		t.Cleanup(func() { _ = in.Close() })
		return cmd
	}
	lost, later, another := like("lost"), like("later"), like("another")
	var before []server.ShimProcess
	var reaped error
	res, err := r.Run(context.Background(), runner.Spec{Name: "kept", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", "echo begun; sleep 1; exit 7"},
		Stdout: writerFunc(func(p []byte) (int, error) {
			for _, s := range server.Shims(o.server()) {
				if s.Pid != later.Process.Pid && s.Pid != another.Process.Pid {
					before = append(before, s)
				}
			}
			reaped = server.ReapShims(context.Background(), o.server(), append(before, server.ShimProcess{Pid: another.Process.Pid, Container: "ended"}))
			return len(p), nil
		})})
	if err != nil || reaped != nil || res.ExitCode != 7 || len(before) != 2 {
		t.Errorf("a container ended with %+v, %v, of the shims %v; %v", res, err, before, reaped)
	}
	if err := lost.Wait(); err == nil || lost.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("a shim without a task: %v", err)
	}
	for _, cmd := range []*exec.Cmd{later, another} {
		if cmd.Process.Signal(syscall.SIGTERM) != nil || cmd.Wait() == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
			t.Errorf("%s was ended as well: %v", cmd.Args[4], cmd.ProcessState)
		}
	}
	nothingLeft(t, r)
}
