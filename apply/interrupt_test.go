package apply_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// An interrupt before the first turn lets nothing start.
func TestRun_InterruptedBeforeItBegins(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	p, err := e.plan(thing("a") + thing("b"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	e.opts.Events = func(ev apply.Event) {
		if _, ok := ev.(apply.Checking); ok {
			t.Error("something was asked")
		}
	}
	e.wrap = func(j apply.Journal) apply.Journal {
		cancel()
		return j
	}
	report, err := e.apply(ctx, p)
	if err != nil || outcomes(report) != "interrupted a=not_started b=not_started" || len(e.world.TakeLog()) > 0 {
		t.Errorf("%v %s", err, encode(report))
	}
}

// An interrupt between two actions of a resource leaves the second one.
func TestRun_InterruptedBetweenActions(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
		if args[0] == "lay" {
			cancel()
		}
		return `{"status":"STALE","actions":[{"name":"lay","args":["lay"]},{"name":"raise","args":["raise"]}]}`, 0
	}}
	e.fake.Add("test/a:1", s.program)
	p, err := e.plan("resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(ctx, p)
	a := report.Resources["a"]
	if err != nil || a.Status != apply.Interrupted || !slices.Equal(a.NotAttempted, []string{"raise"}) || !slices.Equal(s.acted, []string{"lay"}) {
		t.Errorf("%v, acted %q: %s", err, s.acted, encode(a))
	}
}

// Aborting ends what runs, an action as well as a question, and that is an interrupt:
// nothing is built upon it.
func TestRun_Aborted(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"state", "make"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			e, planned := newEngine(t.TempDir()), false
			abort := make(chan struct{})
			e.fake.Add("test/slow:1", func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
				_, _ = io.Copy(io.Discard, stdin)
				switch {
				case len(s.Args) == 0:
					_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]}}`)
				case planned && s.Args[0] == step:
					close(abort)
					<-ctx.Done()
					return 143
				default:
					_, _ = io.WriteString(stdout, `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)
				}
				return 0
			})
			p, err := e.plan("resource \"a\" {\n  type = \"test/slow:1\"\n  config = {}\n}\n" + strings.Replace(thing("b"), "config", "depends_on = [resource.a]\n  config", 1))
			if err != nil {
				t.Fatal(err)
			}
			planned, e.opts.Abort, e.opts.KeepGoing = true, abort, true
			report, err := e.apply(t.Context(), p)
			if err != nil || outcomes(report) != "interrupted a=interrupted b=not_started" || len(e.world.TakeLog()) > 0 {
				t.Errorf("%v %s", err, encode(report))
			}
		})
	}
}

// An interrupt among the shutdowns lets no other one start: not while its resource is
// asked, and no further one is asked.
func TestShutdown_Interrupted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    string // whose question is interrupted
		asked string
		done  string
	}{
		"at the question of the first":  {"b", "b", ""},
		"at the question of the second": {"a", "b a", "stop b"},
		"while the first stops":         {"", "b", "stop b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			s := newServices(e)
			e.do(t, service("a", "1")+service("b", "1", "a"))
			s.take()
			p, err := e.plan(service("a", "2") + service("b", "2", "a"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var asked []string
			e.opts.Events = func(ev apply.Event) {
				switch ev := ev.(type) {
				case apply.Checking:
					if asked = append(asked, ev.Address); ev.Address == c.at {
						cancel()
					}
				case apply.ActionStarted:
					if c.at == "" {
						cancel()
					}
				}
			}
			report, err := e.apply(ctx, p)
			if got := s.take(); err != nil || got != c.done || strings.Join(asked, " ") != c.asked || report.Status != apply.Interrupted {
				t.Errorf("%v, asked %q, did %q: %s", err, asked, got, encode(report))
			}
		})
	}
}

// A late shutdown that fails is followed by no action of its resource.
func TestShutdown_LateAndFailed(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	s.have["b"], s.fail["b"] = `{"v":"old"}`, true // it exists, and nobody knows it yet
	e.opts.Parallelism = 1
	report := e.do(t, service("a", "1")+service("b", "resource.a.state.v"))
	if got := s.take(); got != "change a" || report.Resources["b"].Status != apply.Error || report.Resources["b"].Failed != "stop" {
		t.Errorf("%s: %s", got, encode(report))
	}
}

// A state that cannot be asked keeps a resource from being shut down, and all that was
// to follow.
func TestShutdown_StateThatCannotBeQueried(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	e.do(t, service("a", "1")+service("b", "1"))
	s.take()
	p, err := e.plan(service("a", "2") + service("b", "2"))
	if err != nil {
		t.Fatal(err)
	}
	e.fake.Remove("test/svc:1")
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.Error || report.Resources["a"].Failed != "state" || report.Resources["b"].Status != apply.NotStarted {
		t.Errorf("%v %s", err, encode(report))
	}
}

// What stops a resource is what was shown and approved, also after a question in which
// the world has changed.
func TestShutdown_OnlyWhatWasShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now     bool // it answers otherwise before the apply, or only during the question
		answers []apply.Answer
		want    apply.Status
	}{
		"another shutdown_first": {true, nil, apply.Error},
		"not approved":           {false, []apply.Answer{no}, apply.NotStarted},
		"another shutdown_first, since it was approved": {false, []apply.Answer{yes}, apply.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, stop := newEngine(t.TempDir()), "stop"
			s := &scripted{answer: func(protocol.StateInput, []string) (string, int) {
				return `{"status":"STALE","staleState":{},"actions":[{"name":"make","args":["make"]}],"shutdown_first":{"name":"` + stop + `","args":["` + stop + `"]}}`, 0
			}}
			e.fake.Add("test/a:1", s.program)
			p, err := e.plan("resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\n")
			if err != nil {
				t.Fatal(err)
			}
			if c.now {
				stop = "wipe"
			} else {
				who := &person{answers: c.answers, then: func() { stop = "wipe" }}
				e.opts.Confirm, e.opts.Ask = apply.ConfirmResource, who.ask
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Resources["a"].Status != c.want || len(s.acted) > 0 {
				t.Errorf("%v, did %q: %s", err, s.acted, encode(report))
			}
		})
	}
}
