package apply_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/state"
)

// losing is a Runner that loses sight of the actions of one resource.
type losing struct {
	runner.Runner
	name string
}

func (l losing) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	lost := s.Kind == runner.Action && s.Name == l.name
	if lost {
		s.Ended = nil // nobody sees it
	}
	r, err := l.Runner.Run(ctx, s)
	if lost {
		return runner.Result{}, &runner.UnknownError{Container: "c-1", Err: errors.New("unavailable")}
	}
	return r, err
}

// An action whose end is not known is neither done nor failed: its resource is
// reported as unknown, nothing is built on it, and the state file remembers that
// it was in flight.
func TestAction_WhoseEndIsNotKnown(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.runner = losing{e.fake, "a/make"}
	e.opts.KeepGoing = true
	report := e.do(t, thing("a", "v", "1")+thing("b", "v", "resource.a.state.v")+thing("c"))
	a, b := report.Resources["a"], report.Resources["b"]
	if report.Status != apply.Error || a.Status != apply.Unknown || a.Failed != "make" || len(a.Completed) > 0 || a.ExitCode != 0 || b.Status != apply.NotStarted || report.Resources["c"].Status != apply.OK {
		t.Errorf("%s, a %+v, b %+v", report.Status, a, b)
	}
	snapshot, _, err := state.Load(state.File(e.statePath()))
	if err != nil {
		t.Fatal(err)
	}
	if entry, known := snapshot.Resources["a"]; !known || !entry.Incomplete() || !entry.Dirty {
		t.Errorf("it is begun, and recorded is %v %+v", known, entry)
	}
	flying := snapshot.Applied[len(snapshot.Applied)-1].InFlight
	if !slices.ContainsFunc(flying, func(f state.InFlight) bool { return f.Address == "a" && f.Action == "make" }) {
		t.Errorf("in flight: %+v", flying)
	}
}
