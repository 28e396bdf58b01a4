package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// failingRunner loses its container runtime after some runs.
type failingRunner struct {
	*runnertest.Fake
	after int
}

func (l *failingRunner) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if l.after--; l.after < 0 {
		return runner.Result{}, errors.New("containerd is gone")
	}
	return l.Fake.Run(ctx, s)
}

// A failure of the container runtime is no verdict on the image.
func TestRun_RuntimeFails(t *testing.T) {
	t.Parallel()
	for after := range 60 {
		f := &faulty{texts: map[string]string{}}
		fake := runnertest.NewFake()
		fake.Add("acme/text", f.run)
		l := &failingRunner{fake, after}
		r, err := conformance.Run(t.Context(), conformance.Options{Runner: l, Image: "acme/text", Config: json.RawMessage(config), Then: json.RawMessage(then)})
		if l.after >= 0 {
			if after < 30 || err != nil {
				t.Errorf("after %d runs: %v", after, err)
			}
			return
		}
		// SIGTERM is tried out without looking at anything else.
		if err == nil || !strings.Contains(err.Error(), "containerd is gone") || r.Failed > 0 {
			t.Errorf("after %d runs: %v %v", after, err, verdicts(r, report.Fail))
		}
		if len(f.texts) > 0 && !r.LeftBehind {
			t.Errorf("after %d runs: %v is left, and the report does not say so", after, f.texts)
		}
	}
	t.Error("it never ended")
}
