//go:build linux && amd64

package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/operating"
	"deployster/internal/app/resolving"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/testkit/crash"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// subjectOperation makes the subject one that runs an operation: apply, run or resolve.
const subjectOperation = "DEPLOYSTER_CRASH_OPERATION"

// operated is the key of the one operation of the subject.
var operated = moves.OperationKey("a", "grow")

// growing is a type whose operation leaves a line in a log, before its end is reported.
func growing(log string) runnertest.Program {
	w := &world{path: log}
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]},"operations":{"grow":{"args":["grow"]}}}`)
			return 0
		}
		if s.Args[0] == "state" {
			_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
			return 0
		}
		var in protocol.OperationInput
		if json.NewDecoder(stdin).Decode(&in) != nil || w.append(effect{Key: in.IdempotencyKey, Action: in.Operation, Name: in.Name, Config: in.Input}) != nil {
			return 90
		}
		return 0
	}
}

// operates is the subject: the whole engine, with its state in dir.
func operates(dir, log, what string) error {
	fake := runnertest.NewFake()
	fake.Add("test/grows:1", growing(log))
	e := app.New(app.Options{Workspace: workspace.Options{Dir: dir, Version: "0.1.0"},
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: fake, Dir: dir}, nil }})
	defer e.Close()
	ctx := context.Background()
	var report *apply.Report
	var err error
	switch what {
	case "apply":
		report, err = e.Apply(ctx, app.ApplyOptions{Approval: approval.Options{Auto: true}})
	case "resolve":
		_, err = resolving.Resolve(ctx, e, operated, actions.Done, false)
	default:
		report, err = operating.Run(ctx, e, operating.Options{Pattern: "a", Name: "grow", Auto: true})
	}
	if err == nil && report != nil && report.Status != apply.OK {
		err = errors.New(string(report.Status))
	}
	return err
}

// operate runs the subject with a fault.
func (a *arena) operate(what string, at crash.Point) outcome {
	a.t.Helper()
	p := a.program(nil)
	defer p.Output.Close()
	p.Env = append(p.Env, subjectOperation+"="+what)
	if at.At == 0 {
		at.At = 1 << 30
	}
	return a.trace(p, at)
}

// grown is how often the operation has done something.
func (a *arena) grown() int {
	a.t.Helper()
	list, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	return len(list)
}

// afterOperation looks at what the next run makes of an operation that was hit at a point: it is repeated only where its end is
// recorded, or its start is not; an apply does not settle it.
func (a *arena) afterOperation() (faults []string, open bool) {
	a.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	before := a.grown()
	s, _, err := state.Load(state.File(filepath.Join(a.dir, "deployster.state.json")))
	if err != nil {
		say("torn: %v", err)
		return faults, false
	}
	open = slices.Contains(s.Unknown(), operated)
	last := s.Applied[len(s.Applied)-1]
	if before > 0 && !open && last.By.Command != "deployster operation run" {
		say("lost: it has run, and the state has no trace of it")
	}
	if !open {
		if o := a.operate("run", crash.Point{}); o.Exit != 0 || a.grown() != before+1 {
			say("it does not run again: %s", o.output)
		}
		return faults, open
	}
	if o := a.operate("apply", crash.Point{}); o.Exit != 0 {
		say("an apply fails: %s", o.output)
	}
	if o := a.operate("run", crash.Point{}); o.Exit == 0 || a.grown() != before || !strings.Contains(o.output, "The outcome of the last run is unknown") {
		say("duplicate: it was repeated, and its end is not known: %s", o.output)
	}
	if o := a.operate("resolve", crash.Point{}); o.Exit != 0 {
		say("the verdict of a person was not taken: %s", o.output)
	}
	if o := a.operate("run", crash.Point{}); o.Exit != 0 || a.grown() != before+1 {
		say("it does not run after resolve: %s", o.output)
	}
	return faults, open
}

// TestOperation_KilledAtEachCall ends a command that runs an operation before each call that touches a file of its directory.
func TestOperation_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	a := newArena(t, 1)
	if err := os.WriteFile(filepath.Join(a.dir, "main.hcl"), []byte("resource \"a\" {\n  type   = \"test/grows:1\"\n  config = {}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := a.operate("apply", crash.Point{}); o.Exit != 0 {
		t.Fatal(o.output)
	}
	start := a.save("start")
	points, unknown := 0, 0
	for at := 1; ; at += sample(2, 1) {
		a.reset(start)
		o := a.operate("run", crash.Point{At: at})
		if o.Hit == nil {
			break
		}
		points++
		faults, open := a.afterOperation()
		if open {
			unknown++
		}
		for _, f := range faults {
			t.Errorf("killed before call %d (%s): %s", at, o.Hit, f)
		}
	}
	t.Logf("%d points; of unknown end after %d of them", points, unknown)
	if points < 10 || unknown == 0 {
		t.Errorf("only %d points, %d of them of unknown end", points, unknown)
	}
}
