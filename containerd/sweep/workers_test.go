package sweep

import (
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

// What a worker has not said is judged by how it ended.
func TestActionOutcome_FollowsTheEndOfASilentWorker(t *testing.T) {
	t.Parallel()
	code, said := 7, &worker.Output{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0)}
	answered := &worker.Output{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0), Exit: &code}
	waited := &worker.Output{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0), Exit: &code, Waits: true}
	for _, c := range []struct {
		said  *worker.Output
		ended *runner.Outcome
		fate  runner.Fate
	}{
		{nil, nil, ""},
		{said, nil, ""},
		{answered, nil, runner.Exited},
		{waited, nil, runner.NotBegun},
		{&worker.Output{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0), Waits: true}, &runner.Outcome{Fate: runner.Unknown, Why: "x"}, runner.Unknown},
		{answered, &runner.Outcome{Fate: runner.Unknown, Why: "x"}, runner.Exited},
		{said, &runner.Outcome{Fate: runner.Unknown, Why: "x"}, runner.Unknown},
		{nil, &runner.Outcome{Fate: runner.NotBegun}, runner.NotBegun},
		{nil, &runner.Outcome{Fate: runner.Exited}, runner.NotBegun},
		{nil, &runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 1}}, runner.Unknown},
		{nil, &runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 137, OOM: true}}, runner.Unknown},
		{said, &runner.Outcome{Fate: runner.Exited}, runner.Unknown},
	} {
		k, known := actionOutcome(c.said, c.ended)
		if k.Fate != c.fate || known != (c.fate != "") || (k.Fate == runner.Unknown) != (k.Why != "") || k.Fate == runner.Exited && (k.ExitCode != code || k.Ended.IsZero()) {
			t.Errorf("%+v, %+v: %+v, %v", c.said, c.ended, k, known)
		}
	}
}
