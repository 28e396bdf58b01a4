package containerd

import (
	"bytes"
	"context"
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
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// lost starts an action in another process and kills that. The action ends when
// there is something in the file that is given, with the code 9.
func lost(t *testing.T, o Options, dgst, id string) (mark string) {
	t.Helper()
	c, mark := begun(t, o, dgst, id)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	return mark
}

// begun starts such an action in another process.
func begun(t *testing.T, o Options, dgst, id string) (c *exec.Cmd, mark string) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return startClient(t, o, runner.Spec{Name: "a/make", ID: id, Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Mounts: []runner.Mount{{Source: mark, Target: "/mark"}}, Answer: &runner.Answer{Target: "/r/answer", Max: 100},
		Args: []string{"-c", "echo begins; echo made >/r/answer; while ! [ -s /mark ]; do sleep 0.05; done; echo ends >&2; exit 9"}}), mark
}

// The end of a program is read from where it is kept, also while the client that began it is suspended.
func TestAdopt_OfASuspendedClient(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	c, mark := begun(t, o, packProbe(t, r), "suspended")
	if err := unix.Kill(c.Process.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	end(t, mark)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := r.Adopt(ctx, "suspended", runner.Watch{}); err != nil || out.Fate != runner.Exited || out.ExitCode != 9 {
		t.Errorf("adopted: %+v, %v", out, err)
	}
}

// end lets it end.
func end(t *testing.T, mark string) {
	t.Helper()
	if err := os.WriteFile(mark, []byte("go"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// adopted checks what an adoption gives, and that the next one gives the same
// until it is discarded.
func adopted(t *testing.T, r *Runtime, id string, w runner.Watch) {
	t.Helper()
	for range 2 {
		out, err := r.Adopt(context.Background(), id, w)
		if err != nil || out.Fate != runner.Exited || out.ExitCode != 9 || string(out.Stdout) != "begins\n" || string(out.Stderr) != "ends\n" ||
			string(out.Answer) != "made\n" && !strings.HasPrefix(id, "w/") { // a worker has no file for answers
			t.Fatalf("adopted: %+v, %v", out, err)
		}
		if ago := time.Since(out.Ended); ago < 0 || ago > time.Minute {
			t.Errorf("it ended %s ago", ago)
		}
		w = runner.Watch{}
	}
	if err := errors.Join(r.Discard(context.Background(), id), r.Discard(context.Background(), id)); err != nil {
		t.Error(err)
	}
	if out, err := r.Adopt(context.Background(), id, w); err != nil || out.Fate != runner.Unknown || out.Why == "" {
		t.Errorf("after it was discarded: %+v, %v", out, err)
	}
}

// modes runs a test with the embedded containerd and with a daemon; kill ends
// the server, and restart starts it anew when nobody else does.
func modes(t *testing.T, test func(t *testing.T, o Options, kill, restart func())) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		o := embedded(t)
		test(t, o, func() {
			pid := 0
			eventually(t, "there is a server", func() bool { pid = serverPid(o); return pid != 0 })
			if pid == 0 {
				return // a kill would end this process and all of its group
			}
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
			eventually(t, "the server is gone", func() bool { return !processLives(pid) })
		}, func() {})
	})
	t.Run("daemon", func(t *testing.T) {
		t.Parallel()
		o, kill, restart := mortalDaemon(t)
		o.Warn = func(d *diag.Diagnostic) {
			if !strings.Contains(d.Summary, "lost") && !strings.Contains(d.Summary, "old runc") {
				t.Errorf("unexpected warning: %v", d)
			}
		}
		test(t, o, kill, restart)
	})
}

// An action whose client was killed is adopted: while it runs, and when it has
// ended meanwhile.
func TestAdopt_WaitsForTheActionOfADeadClient(t *testing.T) {
	modes(t, func(t *testing.T, o Options, _, _ func()) {
		r := open(t, o)
		dgst := packProbe(t, r)
		mark := lost(t, o, dgst, "id/1")
		if runs, err := r.Running(context.Background(), "id/1"); err != nil || !runs {
			t.Errorf("it does not run: %v", err)
		}
		// Who waits may go away, and nothing comes of it.
		ctx, cancel := context.WithCancelCause(context.Background())
		gone := errors.New("gone away")
		if _, err := r.Adopt(ctx, "id/1", runner.Watch{Running: func() { cancel(gone) }}); !errors.Is(err, gone) {
			t.Errorf("interrupted: %v", err)
		}
		var stdout, stderr bytes.Buffer
		adopted(t, r, "id/1", runner.Watch{Running: func() { end(t, mark) }, Stdout: &stdout, Stderr: &stderr})
		if stdout.String() != "begins\n" || stderr.String() != "ends\n" {
			t.Errorf("seen: %q, %q", stdout.String(), stderr.String())
		}
		// One that ended while nobody looked.
		end(t, lost(t, o, dgst, "id/2"))
		eventually(t, "it has ended", func() bool {
			runs, err := r.Running(context.Background(), "id/2")
			return err == nil && !runs
		})
		stdout.Reset()
		adopted(t, r, "id/2", runner.Watch{Running: func() { t.Error("it runs") }, Stdout: &stdout})
		if stdout.String() != "begins\n" {
			t.Errorf("seen: %q", stdout.String())
		}
		swept(t, r)
	})
}

// swept checks that in the end nothing is left.
func swept(t *testing.T, r *Runtime) {
	t.Helper()
	eventually(t, "dead clients are swept", func() bool {
		if !r.conn.Embedded {
			if err := r.sweeper().Sweep(context.Background(), true); err != nil {
				t.Error(err)
			}
		}
		return len(layout.Clients(r.conn.Config.RuntimeDir)) == 1
	})
	nothingLeft(t, r)
	noFiles(t, string(r.outcomes()))
}

// The server is killed too, and the action ends before there is another one.
func TestAdopt_FindsAnActionThatEndedWithoutServer(t *testing.T) {
	modes(t, func(t *testing.T, o Options, kill, restart func()) {
		r := open(t, o)
		dgst := packProbe(t, r)
		mark := lost(t, o, dgst, "id")
		kill()
		end(t, mark)
		eventually(t, "it has ended", func() bool { return len(processesWith("while ! [ -s /mark ]")) == 0 })
		restart()
		adopted(t, r, "id", runner.Watch{})
		swept(t, r)
	})
}

// Of an action whose shim was killed nobody knows how it ended. That it was
// killed along with it is no exit code.
func TestShim_IsLost(t *testing.T) {
	modes(t, func(t *testing.T, o Options, _, _ func()) {
		r := open(t, o)
		dgst := packProbe(t, r)
		lost(t, o, dgst, "id")
		killShim(t, r, "id")
		out, err := r.Adopt(context.Background(), "id", runner.Watch{})
		if err != nil || out.Fate != runner.Unknown || !strings.Contains(out.Why, "was lost") || string(out.Stdout) != "begins\n" {
			t.Errorf("adopted: %+v, %v", out, err)
		}
		if err := r.Discard(context.Background(), "id"); err != nil {
			t.Error(err)
		}
		// The same while its client lives.
		var once sync.Once
		told := false
		res, err := r.Run(context.Background(), runner.Spec{Name: "x", ID: "mine", Kind: runner.Action, Digest: dgst, Args: []string{"ignore"},
			Ended:  func(runner.Result, error) error { told = true; return nil },
			Stdout: writerFunc(func(p []byte) (int, error) { once.Do(func() { killShim(t, r, "mine") }); return len(p), nil })})
		var unknown *runner.UnknownError
		if !errors.As(err, &unknown) || told {
			t.Errorf("%+v, %v; told: %v", res, err, told)
		}
	})
}

// killShim kills the process that looks after an action.
func killShim(t *testing.T, r *Runtime, id string) {
	t.Helper()
	c, _, found, err := r.actions.Find(context.Background(), layout.ActionName(id))
	if err != nil || !found {
		t.Fatalf("no container of %s: %v", id, err)
	}
	out, err := exec.Command("pgrep", "-f", "containerd-shim.* -id "+c.ID+"( |$)").Output()
	var pid int
	if _, serr := fmt.Sscan(string(out), &pid); err != nil || serr != nil {
		t.Fatalf("no shim of %s: %v", c.ID, err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Error(err)
	}
}

// A client that lives on may have given an action up: a watch that could not take down
// how it ended. Another need not wait for its end.
func TestAdopt_WhatALivingClientGaveUp(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	other, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	_, err = other.Run(t.Context(), runner.Spec{Name: "x", ID: "id", Kind: runner.Action, Digest: dgst, Args: []string{"exit", "9"},
		Ended: func(runner.Result, error) error { return full }})
	if !errors.Is(err, full) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if out, err := r.Adopt(ctx, "id", runner.Watch{}); err != nil || out.Fate != runner.Exited || out.ExitCode != 9 {
		t.Errorf("adopted: %+v, %v", out, err)
	}
	if err := r.Discard(ctx, "id"); err != nil {
		t.Error(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	swept(t, r)
}

// How an action ended is told while it can still be found out: when it cannot
// be taken down, another may adopt it.
func TestEnded_IsReportedFirst(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	full := errors.New("disk full")
	first, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := first.Run(context.Background(), runner.Spec{Name: "x", ID: "id", Kind: runner.Action, Digest: dgst, Args: []string{"exit", "9"},
		Ended: func(res runner.Result, err error) error {
			if res.ExitCode != 9 || err != nil {
				t.Errorf("told: %+v, %v", res, err)
			}
			return full
		}})
	if !errors.Is(err, full) || res.ExitCode != 9 {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if out, err := r.Adopt(context.Background(), "id", runner.Watch{}); err != nil || out.Fate != runner.Exited || out.ExitCode != 9 {
		t.Errorf("adopted: %+v, %v", out, err)
	}
	if err := r.Discard(context.Background(), "id"); err != nil {
		t.Error(err)
	}
	swept(t, r)
}
