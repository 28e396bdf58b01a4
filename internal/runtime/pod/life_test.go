package pod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Without a client the agent ends after a while, which is long enough here for a client to come first on a busy machine.
func TestAgent_EndsWhenNobodyNeedsIt(t *testing.T) {
	t.Parallel()
	p := newPod(t, "-idle=2s")
	c := p.client(hello(1, "one"))
	if _, err := c.Run(t.Context(), shell(runner.Query, "", "sleep 2.5")); err != nil { // longer than it may be idle
		t.Fatal(err)
	}
	_ = c.Close()
	p.gone()
	if got := p.message(); got != "" {
		t.Errorf("the termination message is %q", got)
	}
}

// With an action the agent ends when that has ended and its outcome was kept for long enough.
func TestAgent_KeepsAnOutcomeThatNobodyHasRecorded(t *testing.T) {
	t.Parallel()
	p := newPod(t, "-idle=2s", "-keep=3s")
	c := p.client(hello(1, "one"))
	s := shell(runner.Action, "a1", "echo ready; sleep 0.5; echo >>/.deployster-run/ends; exit 3")
	s.Stdout = writerFunc(func([]byte) { _ = c.Close() })
	_, _ = c.Run(t.Context(), s) // it is lost
	p.until("the action has ended", func() bool { return p.message() == "a1 begun\na1 exit 3\n" })
	p.gone()
	gone := time.Now()
	ends, err := os.Stat(filepath.Join(p.dir, "run", "ends")) // written before the action had ended: it was not kept for longer
	if err != nil {
		t.Fatal(err)
	}
	if kept := gone.Sub(ends.ModTime()); kept < 3*time.Second {
		t.Errorf("the outcome was kept for %s", kept)
	}
}

// unneeded follows the rules with any times.
func TestUnneeded_WaitsForClientsActionsAndOutcomes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	o := Options{Idle: 2 * time.Minute, Keep: 24 * time.Hour}
	ended := make(chan struct{})
	close(ended)
	one := func(done chan struct{}, ago time.Duration) map[string]*action {
		return map[string]*action{"a": {done: done, outcome: runner.Outcome{Ended: now.Add(-ago)}}}
	}
	for name, c := range map[string]struct {
		alone time.Duration // 0 = there is a client
		open  map[string]*action
		want  bool
	}{
		"a client":                     {0, nil, false},
		"alone for a minute":           {time.Minute, nil, false},
		"alone for long":               {2 * time.Minute, nil, true},
		"an action runs":               {48 * time.Hour, one(make(chan struct{}), 0), false},
		"an outcome is kept":           {48 * time.Hour, one(ended, 23*time.Hour), false},
		"nobody wanted the outcome":    {48 * time.Hour, one(ended, 24*time.Hour), true},
		"a client has left just now":   {time.Minute, one(ended, 25*time.Hour), false},
		"a client, and an old outcome": {0, one(ended, 48*time.Hour), false},
	} {
		a := &agent{actions: &actions{open: c.open}}
		if c.alone != 0 {
			a.since = now.Add(-c.alone)
		}
		if got := a.unneeded(o, now); got != c.want {
			t.Errorf("%s: unneeded %v", name, got)
		}
	}
}

// A Pod that is being deleted begins nothing, lets its actions end and be recorded, and ends then.
func TestAgent_LetsActionsEndWhenItsPodIsDeleted(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	s := shell(runner.Action, "a1", "echo ready; while [ ! -e /.deployster-run/go ]; do sleep 0.01; done; echo end; exit 2")
	s.Stdout = writerFunc(func(b []byte) {
		if string(b) == "ready\n" {
			_ = syscall.Kill(p.pid(), syscall.SIGTERM)
		} else {
			time.Sleep(200 * time.Millisecond) // the client takes a while
		}
	})
	recorded := false
	s.Ended = func(res runner.Result, err error) error {
		recorded = err == nil && res.ExitCode == 2
		return nil
	}
	go func() {
		p.until("it is notified", func() bool { return strings.Contains(p.log.String(), "being deleted") })
		for _, kind := range []runner.Kind{runner.Action, runner.Query} {
			if _, err := c.Run(t.Context(), shell(kind, "a2", "echo >>/.deployster-run/a2")); err == nil || !strings.Contains(err.Error(), errDeleted.Error()) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if err := os.WriteFile(p.dir+"/run/go", nil, 0o600); err != nil {
			t.Error(err)
		}
	}()
	if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 2 || !recorded {
		t.Errorf("%+v, %v; recorded %v", res, err, recorded)
	}
	p.gone()
	if p.count("a2") != 0 || p.message() != "" { // what is recorded elsewhere is in it no more
		t.Errorf("message %q", p.message())
	}
}

// An action that does not end gets SIGTERM before the Pod's time is over, and its end is known.
func TestAgent_EndsActionsBeforeItsPodIsKilled(t *testing.T) {
	t.Parallel()
	p := newPod(t, "-stop=600ms")
	c := p.client(hello(1, "one"))
	s := shell(runner.Action, "a1", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done")
	s.Stdout = writerFunc(func([]byte) { _ = syscall.Kill(p.pid(), syscall.SIGTERM) })
	s.Ended = func(res runner.Result, err error) error {
		if res.ExitCode != 9 || err == nil || !strings.Contains(err.Error(), errDeleted.Error()) {
			t.Errorf("%+v, %v", res, err)
		}
		return errNotRecorded
	}
	_, _ = c.Run(t.Context(), s) // its end is in the message
	p.gone()
	if p.message() != "a1 begun\na1 exit 9\n" {
		t.Errorf("message %q", p.message())
	}
}

// Nothing that a request or an answer has is in what outlives the container, or in its log.
func TestAgent_KeepsSecrets(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	const canary = "canary-4711"
	s := shell(runner.Action, "a1", "cat; echo $1 $TOKEN; echo $1 >&2", canary)
	s.Name, s.Stdin, s.Settings.Env = canary, []byte(canary), map[string]string{"TOKEN": canary}
	s.Ended = func(runner.Result, error) error {
		if got := p.message(); got != "a1 begun\na1 exit 0\n" {
			t.Errorf("the termination message is %q", got)
		}
		return nil
	}
	res, err := c.Run(t.Context(), s)
	if err != nil || strings.Count(string(res.Stdout), canary) != 3 {
		t.Fatalf("%q, %v", res.Stdout, err)
	}
	s = shell(runner.Action, "a2", "", "")
	s.Name, s.Entrypoint, s.Settings.Env = canary, "/"+canary, map[string]string{"TOKEN": canary}
	if _, err := c.Run(t.Context(), s); err == nil {
		t.Error("a program that does not exist was started")
	}
	p.until("it is logged", func() bool { return strings.HasSuffix(p.log.String(), "action a2 was not begun\n") })
	if all := p.message() + p.log.String(); strings.Contains(all, canary) || p.message() != "" {
		t.Errorf("it is in\n%s", all)
	}
}

// Orphans are reaped, and what a program has left in its session is killed.
func TestAgent_LeavesNoProcessBehind(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	res, err := c.Run(t.Context(), shell(runner.Action, "a1", "sleep 1000 & (sleep 1001 &) ; for i in 1 2 3 4; do (sleep 0.01 &); done; echo out; exit 5"))
	if err != nil || res.ExitCode != 5 || string(res.Stdout) != "out\n" || res.Duration > 30*time.Second {
		t.Errorf("%+v, %v", res, err)
	}
	p.until("all have ended", func() bool {
		out, err := p.command("cat /proc/[0-9]*/stat")
		return err == nil && !strings.Contains(out, "(sleep)")
	})
	if _, err := c.Run(t.Context(), shell(runner.Query, "", "kill -HUP 1; kill -INT 1; kill -USR1 1; kill -SEGV 1; kill -KILL 1; true")); err != nil {
		t.Errorf("a program ends the agent: %v", err)
	}
}

// What an action of a Pod that others use too has started ends with it, also outside of its session.
func TestAgent_LeavesNothingForTheNextAction(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	sleeps := func() bool {
		out, err := p.command("cat /proc/[0-9]*/stat")
		return err != nil || regexp.MustCompile(`\(sleep\) [^ZX]`).MatchString(out)
	}
	for _, shares := range []bool{false, true} {
		s := shell(runner.Action, fmt.Sprint("shares-", shares), "(setsid sh -c 'sleep 1000; true' &) ; until pidof sleep; do :; done")
		s.Reuse, s.ReuseActions = shares, shares
		s.Ended = func(runner.Result, error) error {
			if shares && sleeps() {
				t.Error("what the action has started outlives it")
			}
			return nil
		}
		if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		if !shares && !sleeps() {
			t.Error("what has left the session of a program with a Pod of its own is ended before the Pod")
		}
	}
}

// copy and check are what the init container and the check of a host run.
func TestCopy_AndCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Copy(dir); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(dir+"/deployster-pod", "check").CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf(`"agent":%q`, remote.AgentVersion)) {
		t.Errorf("%s, %v", out, err)
	}
	for _, args := range [][]string{nil, {"copy"}, {"serve", "more"}, {"unknown"}} {
		if code := Main(args); code != 2 {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	if code := Main([]string{"copy", dir + "/missing"}); code != 1 {
		t.Errorf("a directory that does not exist: exit code %d", code)
	}
}

// The time limit of a program begins when it does, and not while an action waits for a place.
func TestAgent_Holds16Actions(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	for i := range mostActions {
		s := shell(runner.Action, fmt.Sprint("a", i), "exit 0")
		s.Ended = func(runner.Result, error) error { return errNotRecorded }
		if _, err := c.Run(t.Context(), s); err == nil {
			t.Fatal("it is recorded")
		}
	}
	s := shell(runner.Action, "next", "exit 1")
	s.Timeout = 10 * time.Second
	var waited string
	s.Waiting = func(reason string) {
		waited = reason
		go func() { _ = c.Discard(t.Context(), "a3") }()
	}
	if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 1 || waited != "16 actions are open in its Pod" {
		t.Errorf("%+v, %v, %q", res, err, waited)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	_ = c.Discard(t.Context(), "next")
	s = shell(runner.Action, "last", "exit 0")
	s.Ended = func(runner.Result, error) error { return errNotRecorded }
	_, _ = c.Run(t.Context(), s) // it takes the place
	if _, err := c.Run(ctx, shell(runner.Action, "more", "echo >>/.deployster-run/more")); err == nil || p.count("more") != 0 {
		t.Errorf("more than %d: %v", mostActions, err)
	}
}
