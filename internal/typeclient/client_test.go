package typeclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/diag"
	"deployster/internal/invoke"
	"deployster/internal/invoke/invoketest"
	"deployster/protocol"
)

const image = "acme/file:1"

// says is an image that prints an answer and exits with zero.
func says(answer string) invoketest.Program {
	return func(_ context.Context, _ invoke.Spec, _ io.Reader, stdout, _ io.Writer) int {
		io.WriteString(stdout, answer)
		return 0
	}
}

func client(p invoketest.Program, change ...func(*Options)) (*Client, *invoketest.Fake) {
	fake := invoketest.NewFake()
	fake.Add(image, p)
	o := Options{Runner: fake, Version: "0.1.0", Workspace: "/w", Backoff: []time.Duration{time.Millisecond, time.Millisecond}}
	for _, c := range change {
		c(&o)
	}
	return New(o), fake
}

func target() Target { return Target{Address: "web", Reference: image} }

const minimal = `{"state_action":{"args":["state"]}}`

func initialised(t *testing.T, c *Client) protocol.Type {
	t.Helper()
	ty, err := c.Init(t.Context(), target())
	if err != nil {
		t.Fatal(err)
	}
	return ty
}

// diagnosed checks that an error is a diagnostic of this resource and step.
func diagnosed(t *testing.T, err error, step string) *diag.Diagnostic {
	t.Helper()
	var d *diag.Diagnostic
	if !errors.As(err, &d) {
		t.Fatalf("%v is no diagnostic", err)
	}
	if d.Address != "web" || d.Action != step || d.Severity != diag.Error || d.Summary == "" || len(d.Detail) < 30 {
		t.Errorf("incomplete diagnostic %+v", d)
	}
	if v := diag.Visible(d.Error()); v != d.Error() {
		t.Errorf("not safe to show: %q", d.Error())
	}
	return d
}

func TestResolve(t *testing.T) {
	t.Parallel()
	c, fake := client(says(minimal))
	first, err := c.Resolve(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	fake.AddDigest(image, "sha256:moved", says(minimal))
	if again, _ := c.Resolve(t.Context(), "docker.io/"+image); again != first {
		t.Error("the digest changed within one run")
	}
	if got := c.Images(); len(got) != 1 || got["docker.io/acme/file:1"] != first {
		t.Errorf("images %v", got)
	}
	_, err = c.Resolve(t.Context(), "acme/none")
	if !errors.Is(err, invoke.ErrNoImage) || !strings.Contains(err.Error(), "image import") {
		t.Errorf("missing image: %v", err)
	}
	if len(c.Images()) != 1 {
		t.Error("a missing image was noted")
	}
}

func TestPinsWin(t *testing.T) {
	t.Parallel()
	for _, key := range []string{image, "docker.io/acme/file:1"} {
		c, fake := client(says(minimal), func(o *Options) { o.Pins = map[string]string{key: "sha256:pinned"} })
		fake.AddDigest("acme/elsewhere", "sha256:pinned", says(`{"label":"pinned","state_action":{"args":["s"]}}`))
		ty := initialised(t, c)
		if ty.Digest != "sha256:pinned" || ty.Label != "pinned" {
			t.Errorf("pin by %s: %+v", key, ty)
		}
		if c.Images()["docker.io/acme/file:1"] != "sha256:pinned" {
			t.Errorf("images %v", c.Images())
		}
	}
}

func TestInitIsAskedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer string
		runs   int
	}{{minimal, 1}, {`{"cache":false,"state_action":{"args":["state"]}}`, 8}} {
		var runs atomic.Int32
		cl, _ := client(func(ctx context.Context, s invoke.Spec, in io.Reader, out, errw io.Writer) int {
			runs.Add(1)
			time.Sleep(5 * time.Millisecond)
			return says(c.answer)(ctx, s, in, out, errw)
		})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				tg := target()
				tg.Address = fmt.Sprintf("r%d", i)
				if _, err := cl.Init(t.Context(), tg); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if int(runs.Load()) != c.runs {
			t.Errorf("%s: %d runs, want %d", c.answer, runs.Load(), c.runs)
		}
	}
}

func TestInitRefusalNamesEachResource(t *testing.T) {
	t.Parallel()
	c, fake := client(func(_ context.Context, _ invoke.Spec, _ io.Reader, _, stderr io.Writer) int {
		io.WriteString(stderr, "starting\nI need deployster 9\n")
		return 3
	})
	_, err := c.Init(t.Context(), target())
	d := diagnosed(t, err, "init")
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || !strings.Contains(d.Detail, "I need deployster 9") {
		t.Errorf("refusal: %v", err)
	}
	other := target()
	other.Address = "db"
	_, err = c.Init(t.Context(), other)
	var od *diag.Diagnostic
	if !errors.As(err, &od) || od.Address != "db" || d.Address != "web" {
		t.Errorf("the other resource's error: %v", err)
	}
	if n := len(fake.Calls()); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// TestInitInterruptedIsNotKept: the next asker asks anew.
func TestInitInterruptedIsNotKept(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	c, _ := client(func(ctx context.Context, s invoke.Spec, in io.Reader, out, errw io.Writer) int {
		if runs.Add(1) == 1 {
			<-ctx.Done()
			return 1
		}
		return says(minimal)(ctx, s, in, out, errw)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("Ctrl-C")
	go func() {
		for runs.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel(because)
	}()
	_, err := c.Init(ctx, target())
	if !errors.Is(err, because) {
		t.Errorf("error %v, want the cause", err)
	}
	diagnosed(t, err, "init")
	initialised(t, c)
}

func TestInitContainerGetsNothing(t *testing.T) {
	t.Parallel()
	c, fake := client(says(minimal))
	tg := target()
	tg.Mounts = []invoke.Mount{{Source: t.TempDir(), Target: "/secret"}}
	tg.Settings = invoke.Settings{Env: map[string]string{"TOKEN": "x"}, Memory: 7, Workdir: t.TempDir()}
	tg.StateTimeout, tg.ActionTimeout = time.Second, 2*time.Second
	ty, err := c.Init(t.Context(), tg)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.State(t.Context(), tg, ty, protocol.StateInput{})
	_, _ = c.Act(t.Context(), tg, ty, protocol.Action{Name: "make", Command: protocol.Command{Entrypoint: "/e", Args: []string{"a"}}}, protocol.ActionInput{})
	calls := fake.Calls()
	if s := calls[0]; s.Settings.Network != invoke.NoNetwork || len(s.Mounts) != 0 || len(s.Settings.Env) != 0 || s.Settings.Workdir != "" || s.Settings.Memory != 7 || s.Kind != invoke.Query || s.Timeout != InitTimeout || s.MaxStdout != MaxAnswer || s.Name != "web/init" {
		t.Errorf("init ran as %+v", s)
	}
	if s := calls[1]; s.Settings.Env["TOKEN"] != "x" || len(s.Mounts) != 1 || s.Kind != invoke.Query || s.Timeout != time.Second || len(s.Args) != 1 || s.Args[0] != "state" || s.MaxStdout != MaxAnswer {
		t.Errorf("state ran as %+v", s)
	}
	if s := calls[2]; s.Kind != invoke.Action || s.Timeout != 2*time.Second || s.Entrypoint != "/e" || s.MaxStdout != 0 || len(s.Mounts) != 1 || s.Name != "web/make" {
		t.Errorf("the action ran as %+v", s)
	}
}

func TestTransientIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ failures, runs int }{{0, 1}, {2, 3}, {9, 3}} {
		var runs atomic.Int32
		cl, _ := client(func(ctx context.Context, s invoke.Spec, in io.Reader, out, errw io.Writer) int {
			switch n := int(runs.Add(1)) - 1; { // the first is init
			case n == 0:
				return says(minimal)(ctx, s, in, out, errw)
			case n <= c.failures:
				return says(`{"error":{"class":"transient","message":"try \u001b later"}}`)(ctx, s, in, out, errw)
			}
			return says(`{"status":"VALID","state":{}}`)(ctx, s, in, out, errw)
		})
		_, err := cl.State(t.Context(), target(), initialised(t, cl), protocol.StateInput{})
		if got := int(runs.Load()) - 1; got != c.runs {
			t.Errorf("%d failures: asked %d times, want %d", c.failures, got, c.runs)
		}
		if (err != nil) != (c.failures >= 3) {
			t.Errorf("%d failures: %v", c.failures, err)
		}
		var te *protocol.TypeError
		if err != nil && (!errors.As(err, &te) || te.Class != protocol.TransientError) {
			t.Errorf("error %v", err)
		}
		if err != nil {
			diagnosed(t, err, "state")
		}
	}
}

func TestBackoffObeysTheContext(t *testing.T) {
	t.Parallel()
	c, _ := client(says(`{"error":{"class":"transient","message":"m"}}`), func(o *Options) { o.Backoff = []time.Duration{time.Hour} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.State(ctx, target(), protocol.Type{Dialect: 2, Reference: image, Digest: mustResolve(t, c)}, protocol.StateInput{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func mustResolve(t *testing.T, c *Client) string {
	t.Helper()
	d, err := c.Resolve(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestActionEnds(t *testing.T) {
	t.Parallel()
	c, _ := client(func(_ context.Context, s invoke.Spec, _ io.Reader, stdout, stderr io.Writer) int {
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
	ty := protocol.Type{Dialect: 2, Reference: image, Digest: mustResolve(t, c)}
	act := func(arg string) (invoke.Result, error) {
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

func TestTimeoutsAndLimits(t *testing.T) {
	t.Parallel()
	c, _ := client(func(ctx context.Context, s invoke.Spec, _ io.Reader, stdout, stderr io.Writer) int {
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
	ty := protocol.Type{Dialect: 2, Reference: image, Digest: mustResolve(t, c), StateAction: protocol.Command{Args: []string{"wait"}}}
	_, err := c.State(t.Context(), tg, ty, protocol.StateInput{})
	var timeout *invoke.TimeoutError
	if d := diagnosed(t, err, "state"); !errors.As(err, &timeout) || !strings.Contains(d.Detail, "waiting for godot") || !strings.Contains(d.Detail, "timeouts") {
		t.Errorf("timeout: %v", err)
	}
	ty.StateAction.Args = []string{"endless"}
	tg.StateTimeout = time.Minute
	_, err = c.State(t.Context(), tg, ty, protocol.StateInput{})
	var output *invoke.OutputError
	if diagnosed(t, err, "state"); !errors.As(err, &output) {
		t.Errorf("endless: %v", err)
	}
	ty.Digest = "sha256:gone"
	_, err = c.State(t.Context(), tg, ty, protocol.StateInput{})
	if diagnosed(t, err, "state"); !errors.Is(err, invoke.ErrNoImage) {
		t.Errorf("gone: %v", err)
	}
}

func TestOtherImages(t *testing.T) {
	t.Parallel()
	c, fake := client(says(`{"state_action":{"image":"acme/state"}}`))
	fake.Add("acme/state", says(`{"status":"STALE","actions":[{"name":"tell","image":"acme/slack:2"}],"shutdown_first":{"name":"stop","image":"acme/stop"}}`))
	slack := fake.Add("acme/slack:2", says("told"))
	ty := initialised(t, c)
	_, err := c.State(t.Context(), target(), ty, protocol.StateInput{})
	d := diagnosed(t, err, "stop")
	if !errors.Is(err, invoke.ErrNoImage) || !strings.Contains(d.Detail, "acme/stop") {
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

func TestAbsentNeedsTheCapability(t *testing.T) {
	t.Parallel()
	c, fake := client(says(minimal))
	_, err := c.State(t.Context(), target(), initialised(t, c), protocol.StateInput{Intent: protocol.Absent})
	if d := diagnosed(t, err, "state"); !strings.Contains(d.Detail, "on_remove") || len(fake.Calls()) != 1 {
		t.Errorf("%v after %d runs", err, len(fake.Calls()))
	}
}

func TestRecordAndLog(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []Line
	var records []Invocation
	c, _ := client(func(_ context.Context, s invoke.Spec, _ io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) == 0 {
			io.WriteString(stderr, "from init")
			io.WriteString(stdout, minimal)
			return 0
		}
		io.WriteString(stdout, "out\r\n")
		fmt.Fprintf(stderr, "a\x1b]0;t\a\nb\xff\u202e\n%s\nlast", strings.Repeat("é", maxLine))
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
	want := []string{`init: from init`, `go: a\x1b]0;t\x07`, `go: b\xff\u202e`, fmt.Sprintf("go: %d bytes...é [line cut]", maxLine+len(" [line cut]")), `go: last`}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(records) != 2 || records[0].Step != "init" || records[1].Step != "go" || records[1].Result.ExitCode != 5 || !json.Valid(records[1].Stdin) || records[1].Digest != ty.Digest || records[1].Started.IsZero() {
		t.Errorf("records %+v", records)
	}
}

// lost is a Runner whose runtime goes away.
type lost struct{ invoke.Runner }

func (lost) Run(context.Context, invoke.Spec) (invoke.Result, error) {
	return invoke.Result{}, fmt.Errorf("run: %w", &invoke.UnknownError{Container: "c-1", Err: errors.New("unavailable")})
}

func TestUnknownOutcomeIsNoFailure(t *testing.T) {
	t.Parallel()
	fake := invoketest.NewFake()
	c := New(Options{Runner: lost{fake}})
	_, err := c.Act(t.Context(), target(), protocol.Type{Dialect: 2, Reference: image, Digest: fake.Add(image, says(""))}, protocol.Action{Name: "make"}, protocol.ActionInput{})
	var unknown *invoke.UnknownError
	var exit *ExitError
	if d := diagnosed(t, err, "make"); !errors.As(err, &unknown) || errors.As(err, &exit) || !strings.Contains(d.Summary, "unknown") || !strings.Contains(d.Detail, "c-1") {
		t.Errorf("%v", err)
	}
}
