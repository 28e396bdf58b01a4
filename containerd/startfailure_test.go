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

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/runfiles"
	"deployster/containerd/sweep"
	"deployster/internal/runtime/runner"
)

// cutTheStart does to the container with a first process what a runc does that
// is killed while it starts the program, and waits for the end. It was not cut when
// the program was faster.
func cutTheStart(t *testing.T, o Options, pid uint32, stderr string) (cut bool) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(o.RuntimeDir, "runc/*/*/state.json"))
	for _, state := range all {
		b, err := os.ReadFile(state)
		if err != nil || !strings.Contains(string(b), fmt.Sprintf(`"init_process_pid":%d,`, pid)) {
			continue
		}
		eventually(t, "it waits to open the FIFO", func() bool {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
			return strings.HasPrefix(string(b), fmt.Sprint(unix.SYS_OPENAT, " "))
		})
		fifo, err := unix.Open(filepath.Join(filepath.Dir(state), "exec.fifo"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err = errors.Join(err, unix.Close(fifo)); err != nil {
			t.Error(err)
		}
	}
	eventually(t, "what was cut off ends", func() bool { return !processLives(int(pid)) })
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(stderr); err == nil && len(b) > 0 { // what it said may come a moment after its end
			return true
		}
	}
	return false
}

// A start that is cut off is not taken for an end of the program, which has never
// begun: the code is runc's.
func TestStart_IsCutOff(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	const tries = 30 // of which most are cut
	for range tries {
		cut, told := false, 0
		without := withFaults(t, r, faultyTasks{start: func(func() (*taskapi.StartResponse, error)) (*taskapi.StartResponse, error) {
			list, err := r.conn.Client.TaskService().List(r.conn.Context(context.Background()), &taskapi.ListTasksRequest{})
			if err != nil || len(list.Tasks) != 1 {
				return nil, fmt.Errorf("the tasks are %v, %w", list, err)
			}
			cut = cutTheStart(t, o, list.Tasks[0].Pid, filepath.Join(r.conn.IODir(), list.Tasks[0].ID, runfiles.StderrFile))
			return nil, errgrpc.ToGRPC(errdefs.ErrUnavailable)
		}})
		res, err := r.Run(context.Background(), runner.Spec{Name: "x", ID: "id", Kind: runner.Action, Digest: dgst, Args: []string{"exit", "9"},
			Ended: func(runner.Result, error) error { told++; return nil }})
		without()
		if !cut {
			if res.ExitCode == 1 || res.ExitCode == 255 {
				continue // runc was cut and could not say so: nobody can tell that from a program's own end
			}
			if err != nil || res.ExitCode != 9 || told != 1 {
				t.Errorf("it began, and %+v, %v, told %d times", res, err, told)
			}
			continue
		}
		var unknown *runner.UnknownError
		if !isDiagnostic(err) || errors.As(err, &unknown) || res.ExitCode != 0 || told != 0 || !strings.Contains(err.Error(), "did not start") {
			t.Errorf("got %+v, %v, told %d times", res, err, told)
		}
		nothingLeft(t, r)
		return
	}
	t.Errorf("no start of %d was cut off", tries)
}

// What a program may say itself is held against it only when it is all that
// runc would have said.
func TestNeverBegan_OnlyForTheWholeMessageOfRunc(t *testing.T) {
	t.Parallel()
	const said = "write exec fifo /proc/self/fd/5: broken pipe\n"
	for _, c := range []struct {
		code           int
		stdout, stderr string
		want           bool
	}{
		{1, "", said, true},
		{255, "", "write exec fifo initfifo: write initfifo: broken pipe\n", true},
		{1, "x", said, false},
		{2, "", said, false},
		{0, "", said, false},
		{1, "", said + "more\n", false},
		{1, "", "I: " + said, false},
		{1, "", "", false},
	} {
		dir := t.TempDir()
		err := errors.Join(os.WriteFile(filepath.Join(dir, runfiles.StdoutFile), []byte(c.stdout), 0o600), os.WriteFile(filepath.Join(dir, runfiles.StderrFile), []byte(c.stderr), 0o600))
		if got := sweep.NeverBegan(dir, c.code); err != nil || got != c.want {
			t.Errorf("code %d, %q, %q: %v (%v)", c.code, c.stdout, c.stderr, got, err)
		}
	}
}

// An action that was never started is not taken for one that ended, nor for an
// unknown one; one from before the machine's start is unknown.
func TestNotBegun_IsNeitherEndedNorUnknown(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	next := open(t, o)
	dgst := packProbe(t, next)
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	task := func(u *container) {
		if err := u.createTask(r.conn.Context(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	type notBegun struct {
		name string
		do   func(u *container)
		fate runner.Fate
	}
	cases := []notBegun{
		{"container", func(u *container) {}, runner.NotBegun},
		{"task", task, runner.NotBegun},
		{"asked", func(u *container) {
			if err := u.files.MarkBegun(); err != nil {
				t.Fatal(err)
			}
		}, runner.Unknown},
		{"machine", func(u *container) {
			if err := u.files.Remove(); err != nil {
				t.Fatal(err)
			}
		}, runner.Unknown},
	}
	const tries = 30
	cut := false
	for i := range tries {
		cases = append(cases, notBegun{fmt.Sprint("cut off ", i), func(u *container) {
			task(u)
			if err := u.files.MarkBegun(); err != nil {
				t.Fatal(err)
			}
			cut = cutTheStart(t, o, u.pid, u.files.Stderr.Path)
		}, runner.NotBegun})
	}
	ctx := r.conn.Context(context.Background())
	for i, c := range cases {
		p, err := r.Images.PrepareFor(ctx, runner.Spec{Digest: dgst})
		if err != nil {
			t.Fatal(err)
		}
		u := &container{r: r, spec: runner.Spec{Name: c.name, ID: c.name, Kind: runner.Action, Digest: dgst}, image: p, id: r.conn.NewContainerID()}
		if u.box, err = r.sandboxes.Make(u.id, u.image.Program, u.spec); err == nil {
			u.files, err = runfiles.New(r.conn.Config.RuntimeDir, u.id, u.spec)
		}
		if err == nil {
			err = u.createRecord(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.do(u)
		u.files.Close()
		u.box.Close()
		if cut {
			cases = cases[:i+1] // enough of those
			break
		}
		if strings.HasPrefix(c.name, "cut off") {
			cases[i].fate = runner.Exited // the program was faster
		}
	}
	if !cut {
		t.Errorf("no start of %d was cut off", tries)
	}
	r.conn.Dirty.Store(true) // as if it had died
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		out, err := next.Adopt(ctx, c.name, runner.Watch{})
		if err != nil || out.Fate != c.fate || (out.Fate == runner.Unknown) != (out.Why != "") {
			t.Errorf("%s: %+v, %v", c.name, out, err)
		}
		if err := next.Discard(ctx, c.name); err != nil {
			t.Error(err)
		}
	}
	swept(t, next)
}
