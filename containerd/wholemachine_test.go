package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/sandbox"
	"deployster/containerd/supervise"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/machinegrant"
)

// openMachine opens a Runtime that gives every image the whole machine.
func openMachine(t *testing.T, o Options) *Runtime {
	t.Helper()
	o.Machines = machinegrant.Any()
	return open(t, o)
}

// wholeMachine runs a script in a container that has the whole machine.
func wholeMachine(r *Runtime, dgst string, kind runner.Kind, script string, s runner.Settings) (runner.Result, error) {
	s.WholeMachine = true
	return r.Run(context.Background(), runner.Spec{Name: "whole", Kind: kind, Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", script},
		Settings: s, Timeout: time.Minute, Reuse: true})
}

// enter is a command that enters the machine's files: by this process, since the first one of a
// machine that is a container itself may be out of reach.
func enter() string { return fmt.Sprintf("/bin/busybox nsenter -t %d -m ", os.Getpid()) }

// manySleeps starts more processes than four and those that the agent of a shared container may
// have. The shell ends when the kernel refuses one.
const manySleeps = "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done 2>/dev/null; echo unreachable"

// A container that has the whole machine is there what root is, and what enters the machine's
// namespaces stays in its cgroup.
func TestWholeMachine_IsRootOnTheMachine(t *testing.T) {
	t.Parallel()
	r := openMachine(t, embedded(t))
	dgst := packProbe(t, r)
	file := filepath.Join(t.TempDir(), "made")
	namespaces := ""
	for _, name := range []string{"net", "pid", "ipc", "uts", "cgroup"} {
		link, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			t.Fatal(err)
		}
		namespaces += link + "\n"
	}
	mount, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, script, want string
		settings           runner.Settings
	}{
		{"its namespaces are the machine's", "cd /proc/self/ns; for n in net pid ipc uts cgroup; do /bin/busybox readlink $n; done", namespaces, runner.Settings{}},
		{"it enters the machine's files", enter() + "/bin/sh -c 'readlink /proc/self/ns/mnt'", mount, runner.Settings{}},
		{"it writes to the machine's files", "echo here >/machine" + file + "; id -u", "0", runner.Settings{}},
		{"nothing confines it", "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status | tr -d '\\t\\n'; cat /proc/self/oom_score_adj", "NoNewPrivs:0Seccomp:00",
			runner.Settings{}},
		{"the kernel's files are writable", "[ -w /proc/sys/vm/swappiness ] && ls /dev/null /sys/fs/cgroup | head -1", "/dev/null", runner.Settings{}},
		{"a limit that is set holds", manySleeps, "", runner.Settings{PIDs: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := wholeMachine(r, dgst, runner.Query, c.script, c.settings)
			if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != strings.TrimSpace(c.want) {
				t.Errorf("got %q, want %q (stderr %q, error %v)", got, c.want, res.Stderr, err)
			}
		})
	}
	if got := hostFile(t, file); got != "here\n" {
		t.Errorf("the machine has %q", got)
	}
	nothingLeft(t, r)
}

// An action is over only when nothing of it runs, and its log names what was ended. The shim ends it
// too, and on a busy machine before anyone has read its names: the note may be missing then.
func TestWholeMachine_EndsWithAnEmptyCgroup(t *testing.T) {
	t.Parallel()
	r := openMachine(t, embedded(t))
	dgst := packProbe(t, r)
	noted := false
	for range 20 {
		res, err := wholeMachine(r, dgst, runner.Action, enter()+"sleep 7125 & sleep 7125 & echo $!; exit 3", runner.Settings{})
		if err != nil || res.ExitCode != 3 {
			t.Fatalf("%+v, %v", res, err)
		}
		if left := pidsWith("sleep", "7125"); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		if noted = strings.Contains(string(res.Stderr), "What was left running was ended with the container: sleep, sleep."); noted {
			break
		}
	}
	if !noted {
		t.Error("no log names what was ended")
	}
	nothingLeft(t, r)
}

// The loss of the process that looks after a container says nothing about what runs in it.
func TestWholeMachine_LossOfItsShimLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := openMachine(t, o)
	dgst := packProbe(t, r)
	_, err := r.Run(context.Background(), runner.Spec{Name: "lost", Kind: runner.Action, ID: "lost", Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", enter() + "sleep 7126 & echo; sleep 7126"}, Settings: runner.Settings{WholeMachine: true},
		Stdout: writerFunc(func(p []byte) (int, error) {
			for _, process := range shimsOf(o) {
				pid := 0
				for _, digit := range filepath.Base(process) {
					pid = 10*pid + int(digit-'0')
				}
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			return len(p), nil
		})})
	if !supervise.IsUnknown(err) {
		t.Fatalf("it ended with %v", err)
	}
	out, err := r.Adopt(context.Background(), "lost", runner.Watch{})
	if err != nil || out.Fate != runner.Unknown {
		t.Errorf("%+v, %v", out, err)
	}
	if left := pidsWith("sleep", "7126"); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// An image that the owner of the machine does not list gets nothing.
func TestWholeMachine_NeedsAGrant(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	_, err := wholeMachine(r, packProbe(t, r), runner.Query, "id", runner.Settings{})
	if _, refused := errors.AsType[*runner.MachineError](err); !refused {
		t.Errorf("%v", err)
	}
}

// The cgroup of a container is not empty while a process below it lives.
func TestEnd_WaitsForWhatLives(t *testing.T) {
	t.Parallel()
	r := openMachine(t, embedded(t))
	dgst := packProbe(t, r)
	running := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		_, err := r.Run(context.Background(), runner.Spec{Name: "long", Kind: runner.Query, Digest: dgst, Entrypoint: "/bin/sh",
			Args: []string{"-c", "echo >&2; sleep 7127"}, Settings: runner.Settings{WholeMachine: true},
			Stderr: writerFunc(func(p []byte) (int, error) { close(running); return len(p), nil })})
		ended <- err
	}()
	<-running
	var id string
	for _, group := range cgroupsLeft(r.conn.ID) {
		id = filepath.Base(group)
	}
	if len(sandbox.Left(id)) == 0 {
		t.Fatalf("nothing runs in %q", id)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := sandbox.End(done, id, 0); err == nil {
		t.Error("it was over at once")
	}
	if err := sandbox.End(context.Background(), id, time.Minute); err != nil || len(sandbox.Left(id)) > 0 {
		t.Errorf("%v", err)
	}
	<-ended
}
