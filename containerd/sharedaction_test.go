package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// acting is a Runtime whose actions share containers too.
type acting struct {
	*Runtime
	count *atomic.Int64
}

func (a acting) Run(ctx context.Context, spec runner.Spec) (runner.Result, error) {
	spec.Reuse, spec.ReuseActions = true, true
	if spec.Kind == runner.Action && spec.ID == "" {
		spec.ID = fmt.Sprint("suite/", a.count.Add(1))
	}
	return a.Runtime.Run(ctx, spec)
}

func TestSharedAction_KeepsTheContract(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	packProbe(t, r)
	a := acting{r, new(atomic.Int64)}
	t.Run("suite", func(t *testing.T) { runnertest.Suite(t, a) })
	if a.count.Load() == 0 {
		t.Error("no action was carried out")
	}
	if err := r.closeIdle(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, r)
}

// actor asks for actions that append to a file.
type actor struct {
	t      *testing.T
	o      Options
	r      *Runtime
	digest string
	dir    string
}

func newActor(t *testing.T, o Options) *actor {
	t.Helper()
	r := open(t, o)
	a := &actor{t: t, o: o, r: r, digest: packProbe(t, r), dir: t.TempDir()}
	if err := os.Chmod(a.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return a
}

// spec is an action that carries out a script, in which /d is the directory of the actor.
func (a *actor) spec(id, script string) runner.Spec {
	return runner.Spec{Name: "a/make", ID: id, Kind: runner.Action, Digest: a.digest, Reference: "acme/a", Entrypoint: "/bin/sh",
		Args: []string{"-c", script}, Mounts: []runner.Mount{{Source: a.dir, Target: "/d", Writable: true}}, Reuse: true, ReuseActions: true,
		Timeout: time.Minute, Grace: time.Second}
}

func (a *actor) act(id, script string, change ...func(*runner.Spec)) (runner.Result, error) {
	s := a.spec(id, script)
	for _, c := range change {
		c(&s)
	}
	return a.r.Run(context.Background(), s)
}

// says checks what an action that succeeds prints.
func (a *actor) says(id, script, want string, change ...func(*runner.Spec)) {
	a.t.Helper()
	res, err := a.act(id, script, change...)
	if err != nil || res.ExitCode != 0 || string(res.Stdout) != want {
		a.t.Errorf("%s: exit %d, %v, %q, want %q; %s", id, res.ExitCode, err, res.Stdout, want, res.Stderr)
	}
}

// fails checks that an action fails.
func (a *actor) fails(id, script string, change ...func(*runner.Spec)) {
	a.t.Helper()
	if res, err := a.act(id, script, change...); err == nil && res.ExitCode == 0 {
		a.t.Errorf("%s succeeded: %q", id, res.Stdout)
	}
}

// has checks the content of a file that actions have written.
func (a *actor) has(file, want string) {
	a.t.Helper()
	b, err := os.ReadFile(filepath.Join(a.dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) || string(b) != want {
		a.t.Errorf("%s has %q (%v), want %q", file, b, err, want)
	}
}

func (a *actor) close() {
	a.t.Helper()
	if err := a.r.closeIdle(); err != nil {
		a.t.Error(err)
	}
	nothingLeft(a.t, a.r)
}

// An action finds what it would find in a container of its own, but for the files that an earlier one has left there.
func TestSharedAction_IsAsFresh(t *testing.T) {
	t.Parallel()
	a := newActor(t, embedded(t))
	mark := "echo x >>/mark; wc -l </mark"
	a.says("1", mark, "1\n")
	a.says("2", mark, "2\n")
	query := func(s *runner.Spec) { s.Kind, s.ID = runner.Query, "" }
	a.says("", mark, "3\n", query)

	// Never across types, settings and plugs, and not where it is not allowed.
	a.says("3", mark, "1\n", func(s *runner.Spec) { s.Reference = "acme/other" })
	a.says("4", mark, "1\n", func(s *runner.Spec) { s.Settings.Env = map[string]string{"A": "1"} })
	a.says("5", mark, "1\n", func(s *runner.Spec) { s.Mounts = nil })
	a.says("6", mark, "1\n", func(s *runner.Spec) { s.ReuseActions = false })
	a.says("7", mark, "1\n", func(s *runner.Spec) { s.Settings.Workers = runner.NoWorkers })
	a.says("8", mark, "1\n", func(s *runner.Spec) { s.Guard = "g" })
	a.says("", mark, "1\n", func(s *runner.Spec) { s.ID = "" })
	a.says("", mark, "1\n", query, func(s *runner.Spec) { s.ReuseActions = false })
	a.says("9", mark, "4\n")

	// A fresh one after a failed, a killed and a timed-out action.
	a.fails("10", "exit 3")
	a.says("11", mark, "1\n")
	a.fails("12", "kill -KILL $$")
	a.says("13", mark, "1\n")
	a.fails("14", "sleep 60", func(s *runner.Spec) { s.Timeout = 100 * time.Millisecond })
	a.says("15", mark, "1\n")
	a.fails("16", "trap '' TERM; sleep 60 & wait; sleep 60", func(s *runner.Spec) { s.Timeout, s.Grace = 100*time.Millisecond, 100*time.Millisecond })
	a.says("17", mark, "1\n")

	// What cannot be started is not begun there, and its reason comes from a container of its own.
	a.fails("18", "", func(s *runner.Spec) { s.Entrypoint = "/missing" })
	a.says("19", mark, "2\n")

	// Standard files as in a container of its own; what an action leaves running ends with it.
	a.says("20", "cat /dev/stdin; echo one; echo two >/dev/stdout; echo three >/dev/stderr", "in\none\ntwo\n",
		func(s *runner.Spec) { s.Stdin = []byte("in\n") })
	late := "(until [ -e /d/ended ]; do sleep 0.01; done; echo late >>/d/late) & "
	a.says("21", late+late+"echo end", "end\n")
	if err := os.WriteFile(filepath.Join(a.dir, "ended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	a.has("late", "")
	a.says("22", mark, "3\n")
	a.close()
}

// An action whose client is killed runs to its end, and its end is found: the list of its container names it.
func TestSharedAction_OutlivesItsClient(t *testing.T) {
	modes(t, func(t *testing.T, o Options, _, _ func()) {
		a := newActor(t, o)
		script := "echo begins; while ! [ -s /d/go ]; do sleep 0.05; done; echo done >>/d/done; echo ends >&2; exit 9"
		for _, id := range []string{"while it runs", "when it has ended"} {
			c := startClient(t, o, a.spec(id, script))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()            // it was killed
			time.Sleep(time.Second) // what would be swept is swept
			if running, err := a.r.actions.Running(context.Background(), id); err != nil || !running {
				t.Errorf("%s: running %v, %v", id, running, err)
			}
			end := func() {
				if err := os.WriteFile(filepath.Join(a.dir, "go"), []byte("go"), 0o600); err != nil {
					t.Error(err)
				}
			}
			w := runner.Watch{Running: end}
			var said lockedBuffer
			if w.Stdout = &said; id != "while it runs" {
				end()
				eventually(t, "it has ended", func() bool {
					running, err := a.r.actions.Running(context.Background(), id)
					return err == nil && !running
				})
			}
			out, err := a.r.Adopt(context.Background(), id, w)
			if err != nil || out.Fate != runner.Exited || out.ExitCode != 9 || string(out.Stdout) != "begins\n" || string(out.Stderr) != "ends\n" ||
				said.String() != "begins\n" {
				t.Errorf("%s: %+v, %v; %q", id, out, err, said.String())
			}
			a.has("done", "done\n")
			if err := errors.Join(a.r.Discard(context.Background(), id), os.Remove(filepath.Join(a.dir, "go")),
				os.Remove(filepath.Join(a.dir, "done"))); err != nil {
				t.Error(err)
			}
		}
		swept(t, a.r)
	})
}

// An action whose container is lost may have been begun: it is not repeated in a container of its own.
func TestSharedAction_IsNotRepeated(t *testing.T) {
	t.Parallel()
	a := newActor(t, embedded(t))
	go func() {
		eventually(t, "it runs", func() bool { return layout.Exists(filepath.Join(a.dir, "runs")) })
		list, err := a.r.conn.Client.ContainerService().List(a.r.conn.Context(context.Background()))
		for _, c := range list {
			if err := unix.Kill(workerPid(t, a.r, c.ID), unix.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		if err != nil || len(list) != 1 {
			t.Errorf("%d containers, %v", len(list), err)
		}
	}()
	_, err := a.act("lost", "echo runs >>/d/runs; sleep 60")
	if !diag.Is[*runner.UnknownError](err) {
		t.Errorf("got %v", err)
	}
	a.has("runs", "runs\n")
	if out, err := a.r.Adopt(context.Background(), "lost", runner.Watch{}); err != nil || out.Fate != runner.Unknown || out.NoTrace {
		t.Errorf("adopted: %+v, %v", out, err)
	}
	a.has("runs", "runs\n")
	if err := a.r.Discard(context.Background(), "lost"); err != nil {
		t.Error(err)
	}
	a.says("next", "echo more", "more\n")
	if err := a.r.closeIdle(); err != nil {
		t.Error(err)
	}
	swept(t, a.r)
}

// An action whose container is lost before it has answered is not repeated either: it may have been begun.
func TestSharedAction_UnansweredIsNotRepeated(t *testing.T) {
	t.Parallel()
	a := newActor(t, embedded(t))
	a.says("first", "echo done >>/d/first", "")
	list, err := a.r.conn.Client.ContainerService().List(a.r.conn.Context(context.Background()))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	agent := workerPid(t, a.r, list[0].ID)
	if err := unix.Kill(agent, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var client syscall.RawConn
	eachIdle(a.r, func(g *sharedGroup, w *sharedContainer) {
		client, err = w.agent.SyscallConn()
		g.Return(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		eventually(t, "it is requested", func() bool {
			unread := 0
			err := client.Control(func(fd uintptr) { unread, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }) // 0 at worst
			return err != nil || unread > 0
		})
		if err := unix.Kill(agent, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}()
	if _, err := a.act("second", "echo done >>/d/second"); !diag.Is[*runner.UnknownError](err) {
		t.Errorf("got %v", err)
	}
	if out, err := a.r.Adopt(context.Background(), "second", runner.Watch{}); err != nil || out.Fate != runner.NotBegun {
		t.Errorf("adopted: %+v, %v", out, err)
	}
	a.has("first", "done\n")
	a.has("second", "")
	// A request that cannot be sent is withdrawn, and the action has a container of its own.
	a.says("third", "echo done >>/d/third", "")
	eachIdle(a.r, func(g *sharedGroup, w *sharedContainer) {
		if err := w.agent.UnixConn.Close(); err != nil {
			t.Error(err)
		}
		_, done, err := w.act(context.Background(), a.spec("unsent", "echo done >>/d/unsent"))
		if done || err == nil || !runfiles.IsSettled(w.container.dir()) {
			t.Errorf("an unsent request: done %v, %v", done, err)
		}
		a.r.discard(g, w, false)
	})
	a.has("unsent", "")
	if err := a.r.Discard(context.Background(), "second"); err != nil {
		t.Error(err)
	}
	if err := a.r.closeIdle(); err != nil {
		t.Error(err)
	}
	swept(t, a.r)
}

// An action whose end could not be recorded is found by the next client.
func TestSharedAction_IsFoundUntilItsEndIsRecorded(t *testing.T) {
	t.Parallel()
	a := newActor(t, embedded(t))
	failed := errors.New("the disk is full")
	open := 0
	_, err := a.act("unrecorded", "echo made >>/d/made", func(s *runner.Spec) {
		s.Ended = func(runner.Result, error) error {
			dirs, _ := filepath.Glob(filepath.Join(a.o.RuntimeDir, "io", "*", "*"))
			open = len(slices.DeleteFunc(dirs, runfiles.IsSettled))
			return failed
		}
	})
	if !errors.Is(err, failed) || open != 1 {
		t.Errorf("got %v; %d lists were open", err, open)
	}
	if out, err := a.r.Adopt(context.Background(), "unrecorded", runner.Watch{}); err != nil || out.Fate != runner.Exited || out.ExitCode != 0 {
		t.Errorf("adopted: %+v, %v", out, err)
	}
	a.has("made", "made\n")
	if err := a.r.Discard(context.Background(), "unrecorded"); err != nil {
		t.Error(err)
	}
	swept(t, a.r)
}

// What actions have shared serves the next command too, if no action is open in it.
func TestSharedAction_ContainerIsKept(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.KeepScope, o.IdleExit = time.Hour, "/project", 2*time.Minute
	a := newActor(t, o)
	as := func(id, want string, before func(*Runtime)) {
		t.Helper()
		r, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Run(context.Background(), a.spec(id, "echo x >>/mark; wc -l </mark"))
		if err != nil || strings.TrimSpace(string(res.Stdout)) != want {
			t.Errorf("%s: %q, %v, want %s; %s", id, res.Stdout, err, want, res.Stderr)
		}
		if before != nil {
			before(r)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	as("1", "1", nil)
	as("2", "2", nil)
	as("3", "3", func(r *Runtime) {
		eachIdle(r, func(g *sharedGroup, w *sharedContainer) {
			if w.asked != 3 {
				t.Errorf("%d actions were requested", w.asked)
			}
			if err := w.ledger.Ask(r.outcomes(), 99, a.spec("open", "")); err != nil {
				t.Error(err)
			}
			g.Return(w)
		})
	})
	eventually(t, "the container is not kept, and what became of its action is found", func() bool {
		out, there, err := a.r.outcomes().Load(layout.ActionName("open"))
		return err == nil && there && out.Fate == runner.Unknown // nobody has made its record
	})
	as("4", "1", nil)
	if err := a.r.Discard(context.Background(), "open"); err != nil {
		t.Error(err)
	}
	last := o
	last.Keep = time.Second
	o = last
	as("5", "2", nil)
	swept(t, a.r)
}

// A container that is kept ends with its server.
func TestSharedAction_KeptEndsWithTheServer(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.KeepScope, o.IdleExit = time.Hour, "/project", 2*time.Minute
	a := newActor(t, o)
	a.says("1", "echo done", "done\n")
	if err := a.r.closeIdle(); err != nil {
		t.Error(err)
	}
	if kinds := containerKinds(t, a.r); len(kinds) != 1 {
		t.Errorf("there are containers %q", kinds)
	}
}
