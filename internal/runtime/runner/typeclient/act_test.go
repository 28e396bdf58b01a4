package typeclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/base/loglines"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

func TestAct_Ends(t *testing.T) {
	t.Parallel()
	c, _ := client(func(_ context.Context, s runner.Spec, _ io.Reader, stdout, stderr io.Writer) int {
		io.WriteString(stdout, "on stdout\n")
		if s.Args[0] == "quiet" {
			return 4
		}
		io.WriteString(stderr, "\x1b[2Jdisk full\n")
		if s.Args[0] == "bad" {
			return 3
		}
		return 0
	})
	ty := protocol.Type{Protocol: 2, Reference: image, Digest: mustResolve(t, c)}
	act := func(arg string) (runner.Result, error) {
		return c.Act(t.Context(), target(), ty, protocol.Action{Name: "load", Command: protocol.Command{Args: []string{arg}}}, protocol.ActionInput{})
	}
	if r, err := act("good"); err != nil || string(r.Stdout) != "on stdout\n" {
		t.Errorf("%+v %v", r, err)
	}
	r, err := act("bad")
	d := diagnosed(t, err, "load")
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Tail != `\x1b[2Jdisk full` || r.ExitCode != 3 || !strings.Contains(d.Detail, "exit code 3") {
		t.Errorf("bad: %+v %v", r, err)
	}
	if exit.Error() != `exit 3: \x1b[2Jdisk full` {
		t.Errorf("reason %q", exit)
	}
	if _, err = act("quiet"); !errors.As(err, &exit) || exit.Tail != "on stdout" {
		t.Errorf("quiet: %v", err)
	}
}

func TestClient_TimeoutsAndLimits(t *testing.T) {
	t.Parallel()
	c, _ := client(func(ctx context.Context, s runner.Spec, _ io.Reader, stdout, stderr io.Writer) int {
		if s.Args[0] == "endless" {
			b := []byte(strings.Repeat("x", 1<<20))
			for {
				if _, err := stdout.Write(b); err != nil {
					return 1
				}
			}
		}
		io.WriteString(stderr, "waiting for godot\n")
		<-ctx.Done()
		return 1
	})
	tg := target()
	tg.StateTimeout = 30 * time.Millisecond
	ty := protocol.Type{Protocol: 2, Reference: image, Digest: mustResolve(t, c), StateAction: protocol.Command{Args: []string{"wait"}}}
	_, err := c.State(t.Context(), tg, ty, protocol.StateInput{})
	var timeout *runner.TimeoutError
	if d := diagnosed(t, err, "state"); !errors.As(err, &timeout) || !strings.Contains(d.Detail, "waiting for godot") || !strings.Contains(d.Detail, "timeouts") {
		t.Errorf("timeout: %v", err)
	}
	ty.StateAction.Args = []string{"endless"}
	tg.StateTimeout = time.Minute
	_, err = c.State(t.Context(), tg, ty, protocol.StateInput{})
	var output *runner.OutputError
	if diagnosed(t, err, "state"); !errors.As(err, &output) {
		t.Errorf("endless: %v", err)
	}
	ty.Digest = "sha256:gone"
	_, err = c.State(t.Context(), tg, ty, protocol.StateInput{})
	if diagnosed(t, err, "state"); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("gone: %v", err)
	}
}

func TestClient_OtherImages(t *testing.T) {
	t.Parallel()
	c, fake := client(says(`{"state_action":{"image":"acme/state"}}`))
	fake.Add("acme/state", says(`{"status":"STALE","actions":[{"name":"tell","image":"acme/slack:2"}],"shutdown_first":{"name":"stop","image":"acme/stop"}}`))
	slack := fake.Add("acme/slack:2", says("told"))
	ty := initialised(t, c)
	_, err := c.State(t.Context(), target(), ty, protocol.StateInput{})
	d := diagnosed(t, err, "stop")
	if !errors.Is(err, runner.ErrNoImage) || !strings.Contains(d.Detail, "acme/stop") {
		t.Errorf("a missing image of an action: %v", err)
	}
	fake.Add("acme/stop", says(""))
	a, err := c.State(t.Context(), target(), ty, protocol.StateInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Images(); len(got) != 4 || got["docker.io/acme/slack:2"] != slack {
		t.Errorf("images %v", got)
	}
	if r, err := c.Act(t.Context(), target(), ty, a.Actions[0], protocol.ActionInput{}); err != nil || string(r.Stdout) != "told" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestState_AbsentNeedsTheCapability(t *testing.T) {
	t.Parallel()
	c, fake := client(says(minimal))
	_, err := c.State(t.Context(), target(), initialised(t, c), protocol.StateInput{Intent: protocol.Absent})
	if d := diagnosed(t, err, "state"); !strings.Contains(d.Detail, "on_remove") || len(fake.Calls()) != 1 {
		t.Errorf("%v after %d runs", err, len(fake.Calls()))
	}
}

func TestClient_RecordsAndLogs(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []Line
	var records []Invocation
	c, _ := client(func(_ context.Context, s runner.Spec, _ io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) == 0 {
			io.WriteString(stderr, "from init")
			io.WriteString(stdout, minimal)
			return 0
		}
		io.WriteString(stdout, "out\r\n")
		fmt.Fprintf(stderr, "a\x1b]0;t\a\nb\xff\u202e\n%s\nlast", strings.Repeat("é", loglines.MaxLine))
		return 5
	}, func(o *Options) {
		o.Log = func(l Line) { mu.Lock(); lines = append(lines, l); mu.Unlock() }
		o.Record = func(i Invocation) { mu.Lock(); records = append(records, i); mu.Unlock() }
	})
	ty := initialised(t, c)
	_, _ = c.Act(t.Context(), target(), ty, protocol.Action{Name: "go", Command: protocol.Command{Args: []string{"x"}}}, protocol.ActionInput{})
	var got []string
	for _, l := range lines {
		text := l.Text
		if len(text) > 40 {
			text = fmt.Sprintf("%d bytes...%s", len(text), text[len(text)-13:])
		}
		if l.Stream == Stderr {
			got = append(got, l.Step+": "+text)
		} else if l.Address != "web" || l.Text != "out" || l.Step != "go" {
			t.Errorf("stdout line %+v", l)
		}
	}
	want := []string{`init: from init`, `go: a\x1b]0;t\x07`, `go: b\xff\u202e`, fmt.Sprintf("go: %d bytes...é [line cut]", loglines.MaxLine+len(" [line cut]")), `go: last`}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(records) != 2 || records[0].Step != "init" || records[1].Step != "go" || records[1].Result.ExitCode != 5 || !json.Valid(records[1].Stdin) || records[1].Digest != ty.Digest || records[1].Started.IsZero() {
		t.Errorf("records %+v", records)
	}
}

// Where a run was is recorded: that of init, of whomever it is asked, was here.
func TestClient_RecordsHosts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	where := map[string]string{}
	c, _ := client(says(minimal), func(o *Options) {
		o.Record = func(i Invocation) { mu.Lock(); where[i.Step] = i.Host; mu.Unlock() }
	})
	there := target()
	there.Settings.Host = &runner.Host{Name: `web["a"]`, Address: "10.0.0.5"}
	ty, err := c.Init(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.State(t.Context(), there, ty, protocol.StateInput{})
	_, _ = c.Act(t.Context(), target(), ty, protocol.Action{Name: "here"}, protocol.ActionInput{})
	_, _ = c.Act(t.Context(), there, ty, protocol.Action{Name: "there"}, protocol.ActionInput{})
	want := map[string]string{"init": "", "state": `web["a"]`, "here": "", "there": `web["a"]`}
	if !maps.Equal(where, want) {
		t.Errorf("recorded %v, want %v", where, want)
	}
}

// lost is a Runner whose runtime goes away.
type lost struct{ runner.Runner }

func (lost) Run(context.Context, runner.Spec) (runner.Result, error) {
	return runner.Result{}, fmt.Errorf("run: %w", &runner.UnknownError{Container: "c-1", Err: errors.New("unavailable")})
}

func TestAct_UnknownOutcomeIsNotAFailure(t *testing.T) {
	t.Parallel()
	fake := runnertest.NewFake()
	c := New(Options{Runner: lost{fake}})
	_, err := c.Act(t.Context(), target(), protocol.Type{Protocol: 2, Reference: image, Digest: fake.Add(image, says(""))}, protocol.Action{Name: "make"}, protocol.ActionInput{})
	var unknown *runner.UnknownError
	var exit *ExitError
	if d := diagnosed(t, err, "make"); !errors.As(err, &unknown) || errors.As(err, &exit) || !strings.Contains(d.Summary, "unknown") || !strings.Contains(d.Detail, "c-1") {
		t.Errorf("%v", err)
	}
}

// A program that certainly ended is not reported as one that may still run.
func TestAct_UnknownOutcomeIsOver(t *testing.T) {
	t.Parallel()
	for exceeded, want := range map[bool]string{true: "does not run any more", false: "may still run"} {
		fake := runnertest.NewFake()
		ty := protocol.Type{Protocol: 2, Reference: image, Digest: fake.Add(image, says(""))}
		ended := &runner.UnknownError{Container: "c-1", Err: errors.New("evicted"), Over: exceeded}
		_, err := New(Options{Runner: &failing{Runner: fake, err: ended}}).Act(t.Context(), target(), ty, protocol.Action{Name: "make"}, protocol.ActionInput{})
		if d := diagnosed(t, err, "make"); d.Summary != "The outcome is unknown" || !strings.Contains(d.Detail, want) || !strings.Contains(d.Detail, "evicted") {
			t.Errorf("over %t: %s: %s", exceeded, d.Summary, d.Detail)
		}
	}
}

// TestAct_Interrupt: the cause that the caller gave is wrapped, and is
// not the plain context.Canceled.
func TestAct_Interrupt(t *testing.T) {
	t.Parallel()
	because := fmt.Errorf("interrupted: %w", context.Canceled)
	cancelled := fmt.Errorf("web/make was cancelled: %w", because)
	for _, c := range []struct {
		err  error
		want string
	}{
		{cancelled, `Action "make" of image acme/file:1 was ended too early, because deployster was interrupted. Plan again to see its progress.`},
		{errors.Join(cancelled, &runner.UnknownError{Container: "c-1", Err: errors.New("unavailable")}),
			`Action "make" of image acme/file:1 was to be ended, because deployster was interrupted, and may still run: the container runtime was lost meanwhile (container c-1). ` +
				`See that the runtime works again, then plan, which reads the current state.`},
	} {
		fake := runnertest.NewFake()
		ty := protocol.Type{Protocol: 2, Reference: image, Digest: fake.Add(image, says(""))}
		_, err := New(Options{Runner: &failing{Runner: fake, err: c.err}}).Act(t.Context(), target(), ty, protocol.Action{Name: "make"}, protocol.ActionInput{})
		if d := diagnosed(t, err, "make"); d.Summary != "Interrupted" || d.Detail != c.want || !errors.Is(err, because) {
			t.Errorf("%s: %s\nwant %s", d.Summary, d.Detail, c.want)
		}
	}
}
