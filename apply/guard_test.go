package apply_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/state"
)

// breaking is a Runner with a fault: it panics in one invocation.
type breaking struct {
	runner.Runner
	name string
}

func (b breaking) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Name == b.name && (s.Kind == runner.Action || ctx.Value(applying{}) != nil) {
		panic("a fault of ours")
	}
	return b.Runner.Run(ctx, s)
}

type applying struct{}

// A fault of this program is reported like any other failure: nothing new is
// started, what was done is recorded, and an action that was at work is unknown.
func TestGuard_ReportsAFaultOfOurOwn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]apply.Status{"b/make": apply.Unknown, "b/state": apply.Error} {
		e := newEngine(t.TempDir())
		e.runner = breaking{e.fake, name}
		e.opts.Parallelism, e.opts.KeepGoing = 1, true
		p, err := e.plan(thing("a") + thing("b") + thing("c"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := e.apply(context.WithValue(t.Context(), applying{}, true), p)
		b := report.Resources["b"]
		if err == nil || !strings.Contains(err.Error(), "fault of deployster") || report.Status != apply.Error || b.Status != want ||
			report.Resources["a"].Status != apply.OK || report.Resources["c"].Status != apply.NotStarted {
			t.Errorf("%s: %v: %s", name, err, encode(report))
		}
		if !slices.ContainsFunc(summaries(report.Problems), func(s string) bool { return strings.HasPrefix(s, "b: ") }) {
			t.Errorf("%s: problems %q", name, summaries(report.Problems))
		}
		snapshot, _, err := state.Load(state.File(e.statePath()))
		if _, recorded := snapshot.Resources["a"]; err != nil || !recorded {
			t.Errorf("%s: %v, a recorded %v", name, err, recorded)
		}
	}
	// And one between two resources.
	e := newEngine(t.TempDir())
	e.opts.Events = func(ev apply.Event) {
		if _, ok := ev.(apply.Stopping); ok {
			panic("a fault of ours")
		}
	}
	e.world.Fail("a", true)
	p, err := e.plan(thing("a") + thing("b", "v", "resource.a.state.v"))
	if err != nil {
		t.Fatal(err)
	}
	if report, err := e.apply(t.Context(), p); err == nil || report.Status != apply.Error || report.Resources["b"].Status != apply.NotStarted {
		t.Errorf("%v: %s", err, encode(report))
	}
}
