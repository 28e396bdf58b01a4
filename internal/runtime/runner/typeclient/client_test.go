package typeclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

const image = "acme/file:1"

// says is an image that prints an answer and exits with zero.
func says(answer string) runnertest.Program {
	return func(_ context.Context, _ runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		io.WriteString(stdout, answer)
		return 0
	}
}

func client(p runnertest.Program, change ...func(*Options)) (*Client, *runnertest.Fake) {
	fake := runnertest.NewFake()
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

func TestResolve_PinsOneDigest(t *testing.T) {
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
	if !errors.Is(err, runner.ErrNoImage) || !strings.Contains(err.Error(), "image import") {
		t.Errorf("missing image: %v", err)
	}
	if len(c.Images()) != 1 {
		t.Error("a missing image was noted")
	}
}

func TestResolve_PinsWin(t *testing.T) {
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

func TestInit_IsQueriedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer string
		runs   int
	}{{minimal, 1}, {`{"cache":false,"state_action":{"args":["state"]}}`, 8}} {
		var runs atomic.Int32
		cl, _ := client(func(ctx context.Context, s runner.Spec, in io.Reader, out, errw io.Writer) int {
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

func TestInit_RefusalNamesEachResource(t *testing.T) {
	t.Parallel()
	c, fake := client(func(_ context.Context, _ runner.Spec, _ io.Reader, _, stderr io.Writer) int {
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

// TestInit_InterruptedIsNotKept: the next asker asks anew.
func TestInit_InterruptedIsNotKept(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	c, _ := client(func(ctx context.Context, s runner.Spec, in io.Reader, out, errw io.Writer) int {
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

// failing is a Runner that fails by itself, as for an init whose time is up.
type failing struct {
	runner.Runner
	err  error
	runs atomic.Int32
}

func (f *failing) Run(context.Context, runner.Spec) (runner.Result, error) {
	f.runs.Add(1)
	return runner.Result{}, f.err
}

func TestInit_FailureIsShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		runs int32
	}{
		{&runner.TimeoutError{After: InitTimeout}, 1},
		{&runner.OutputError{Limit: MaxAnswer}, 1},
		{errors.New("no space left on device"), 1},
		{fmt.Errorf("init was cancelled: %w", context.Canceled), 3},
	} {
		fake := runnertest.NewFake()
		fake.Add(image, says(minimal))
		runner := &failing{Runner: fake, err: c.err}
		cl := New(Options{Runner: runner})
		for range 3 {
			_, err := cl.Init(t.Context(), target())
			if diagnosed(t, err, "init"); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		}
		if n := runner.runs.Load(); n != c.runs {
			t.Errorf("%v: run %d times, want %d", c.err, n, c.runs)
		}
	}
}

// TestInit_ResolvesTheImagesOfTheType: a plan pins them, although the state of
// a resource that waits for another one is not asked for before the apply.
func TestInit_ResolvesTheImagesOfTheType(t *testing.T) {
	t.Parallel()
	c, fake := client(says(`{"state_action":{"image":"acme/state"},"worker":{"image":"acme/worker"}}`))
	state := fake.Add("acme/state", says(""))
	_, err := c.Init(t.Context(), target())
	if d := diagnosed(t, err, "init"); !errors.Is(err, runner.ErrNoImage) || !strings.Contains(d.Detail, "acme/worker") {
		t.Errorf("a missing image: %v", err)
	}
	c, fake = client(says(`{"state_action":{"image":"acme/state"},"worker":{"image":"acme/worker"}}`))
	fake.Add("acme/state", says(""))
	worker := fake.Add("acme/worker", says(""))
	initialised(t, c)
	if got := c.Images(); len(got) != 3 || got["docker.io/acme/state:latest"] != state || got["docker.io/acme/worker:latest"] != worker {
		t.Errorf("images %v", got)
	}
}

func TestInit_ContainerGetsNothing(t *testing.T) {
	t.Parallel()
	c, fake := client(says(minimal))
	tg := target()
	tg.Mounts = []runner.Mount{{Source: t.TempDir(), Target: "/secret"}}
	tg.Settings = runner.Settings{Env: map[string]string{"TOKEN": "x"}, Memory: 7, Workdir: t.TempDir()}
	tg.StateTimeout, tg.ActionTimeout = time.Second, 2*time.Second
	ty, err := c.Init(t.Context(), tg)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.State(t.Context(), tg, ty, protocol.StateInput{})
	_, _ = c.Act(t.Context(), tg, ty, protocol.Action{Name: "make", Command: protocol.Command{Entrypoint: "/e", Args: []string{"a"}}}, protocol.ActionInput{})
	calls := fake.Calls()
	if s := calls[0]; s.Settings.Network != runner.NoNetwork || len(s.Mounts) != 0 || len(s.Settings.Env) != 0 || s.Settings.Workdir != "" || s.Settings.Memory != 7 || s.Kind != runner.Query || s.Timeout != InitTimeout || s.MaxStdout != MaxAnswer || s.Name != "web/init" {
		t.Errorf("init ran as %+v", s)
	}
	if s := calls[1]; s.Settings.Env["TOKEN"] != "x" || len(s.Mounts) != 1 || s.Kind != runner.Query || s.Timeout != time.Second || len(s.Args) != 1 || s.Args[0] != "state" || s.MaxStdout != MaxAnswer {
		t.Errorf("state ran as %+v", s)
	}
	if s := calls[2]; s.Kind != runner.Action || s.Timeout != 2*time.Second || s.Entrypoint != "/e" || s.MaxStdout != 0 || len(s.Mounts) != 1 || s.Name != "web/make" {
		t.Errorf("the action ran as %+v", s)
	}
}

// The kinds of an image are one program, whose inits share a container; another init has one of its own.
func TestInit_KindsShareAContainer(t *testing.T) {
	t.Parallel()
	for _, name := range []string{image, image + "#user", image + "#group"} {
		c, fake := client(says(minimal))
		fake.Add(name, says(minimal))
		tg := target()
		tg.Reference = name
		if _, err := c.Init(t.Context(), tg); err != nil {
			t.Fatal(err)
		}
		if calls := fake.Calls(); len(calls) != 1 || calls[0].Reuse != (name != image) {
			t.Errorf("the init of %s ran as %+v", name, calls)
		}
	}
}

// How much is to come is in each query and action, but not in an init.
func TestClient_PassesOnWhatIsExpected(t *testing.T) {
	t.Parallel()
	c, fake := client(says(minimal))
	c.Expected = map[string]int{image: 7}
	ty, err := c.Init(t.Context(), target())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.State(t.Context(), target(), ty, protocol.StateInput{}) // its answer is not one
	calls := fake.Calls()
	if len(calls) != 2 || calls[0].Expected != 0 || calls[1].Expected != 7 {
		t.Errorf("%+v", calls)
	}
}

func TestState_TransientIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failures, runs int
		once           bool
	}{{0, 1, false}, {2, 3, false}, {9, 3, false}, {0, 1, true}, {1, 1, true}} {
		var runs atomic.Int32
		cl, _ := client(func(ctx context.Context, s runner.Spec, in io.Reader, out, errw io.Writer) int {
			switch n := int(runs.Add(1)) - 1; { // the first is init
			case n == 0:
				return says(minimal)(ctx, s, in, out, errw)
			case n <= c.failures:
				return says(`{"error":{"class":"transient","message":"try \u001b later"}}`)(ctx, s, in, out, errw)
			}
			return says(`{"status":"VALID","state":{}}`)(ctx, s, in, out, errw)
		})
		of := target()
		of.Once = c.once
		_, err := cl.State(t.Context(), of, initialised(t, cl), protocol.StateInput{})
		if got := int(runs.Load()) - 1; got != c.runs {
			t.Errorf("%d failures: asked %d times, want %d", c.failures, got, c.runs)
		}
		if (err != nil) != (c.failures >= c.runs) {
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

func TestState_BackoffObeysTheContext(t *testing.T) {
	t.Parallel()
	c, _ := client(says(`{"error":{"class":"transient","message":"m"}}`), func(o *Options) { o.Backoff = []time.Duration{time.Hour} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.State(ctx, target(), protocol.Type{Protocol: 2, Reference: image, Digest: mustResolve(t, c)}, protocol.StateInput{})
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
