package sweep

import (
	"testing"

	"deployster/containerd/runfiles"
	"deployster/internal/runner"
	"deployster/internal/runner/worker"
)

// What a carrier has not said is judged by how it ended.
func TestCarried(t *testing.T) {
	t.Parallel()
	code, said := 7, &worker.Output{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0)}
	answered := &worker.Output{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0), Exit: &code}
	for _, c := range []struct {
		said  *worker.Output
		ended *runfiles.Ending
		fate  runner.Fate
	}{
		{nil, nil, ""},
		{said, nil, ""},
		{answered, nil, runner.Exited},
		{answered, &runfiles.Ending{Fate: runner.Unknown, Why: "x"}, runner.Exited},
		{said, &runfiles.Ending{Fate: runner.Unknown, Why: "x"}, runner.Unknown},
		{nil, &runfiles.Ending{Fate: runner.NotBegun}, runner.NotBegun},
		{nil, &runfiles.Ending{Fate: runner.Exited}, runner.NotBegun},
		{nil, &runfiles.Ending{Fate: runner.Exited, Code: 1}, runner.Unknown},
		{nil, &runfiles.Ending{Fate: runner.Exited, Code: 137, OOM: true}, runner.Unknown},
		{said, &runfiles.Ending{Fate: runner.Exited}, runner.Unknown},
	} {
		k, known := actionOutcome(c.said, c.ended)
		if k.Fate != c.fate || known != (c.fate != "") || (k.Fate == runner.Unknown) != (k.Why != "") || k.Fate == runner.Exited && (k.Code != code || k.Ended.IsZero()) {
			t.Errorf("%+v, %+v: %+v, %v", c.said, c.ended, k, known)
		}
	}
}
