package app

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/ui/events"
)

// A notification that cannot be sent is a warning, and changes nothing about an apply.
func TestNotify_FailuresChangeNothing(t *testing.T) {
	fake, world, abort := runnertest.NewFake(), runnertest.NewWorld(), make(chan struct{})
	fake.Add("thing", world.Program)
	interrupt := sync.OnceFunc(func() { close(abort) }) // otherwise it is tried again for seconds
	fake.Add("pager", func(_ context.Context, s runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, `{"protocol":2,"notify":{"args":["notify"]}}`)
			return 0
		}
		interrupt()
		return 1
	})
	var mu sync.Mutex
	var reported []string
	note := func(e events.Event) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, e.Message)
	}
	e := New(Options{Abort: abort, Workspace: workspace.Options{Dir: t.TempDir(), Version: "test", Events: note},
		Open: func(context.Context) (Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }})
	t.Cleanup(e.Close)
	declare(t, e, "main.hcl", thing+`
notify "ops" {
  type = "pager"
  on   = ["report.ok"]
}
`)
	report, err := e.Apply(t.Context(), ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK || len(report.Problems) > 0 || len(world.Things()) != 1 {
		t.Errorf("%+v, %v: %v", report, err, world.Things())
	}
	mu.Lock()
	defer mu.Unlock()
	warned := func(text string) bool {
		return strings.Contains(text, "1 notification of notify.ops could not be sent")
	}
	if !slices.ContainsFunc(reported, warned) {
		t.Errorf("it does not warn: %q", reported)
	}
}
