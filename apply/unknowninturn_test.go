package apply

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deployster/apply/facts"
	"deployster/apply/report"
	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

const unknownInTurn = `
resource "a" {
  type   = "thing:1"
  config = {}
}
resource "b" {
  type   = "thing:1"
  config = { v = resource.a.state.v }
  lifecycle {
    precondition {
      condition     = resource.a.state.v == 1
      error_message = "no"
    }
    postcondition {
      condition     = self.state.v == resource.a.state.v
      error_message = "no"
    }
  }
}
host "web" {
  address = resource.a.state.ip
}
output "o" {
  value = 1
  precondition {
    condition     = resource.a.state.v == 1
    error_message = "no"
  }
}
`

// unknownRun is the run of a plan that does not say what b waits for: its turn comes
// too early.
func unknownRun(t *testing.T) (*run, *plan.Step, *outcome) {
	t.Helper()
	m, diags := config.Load(config.Sources{Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(unknownInTurn)}}}, nil, config.Builtins{Version: "1"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	step := &plan.Step{Part: &change.Deferred{}}
	p := &plan.Plan{Resources: map[string]*plan.Step{"b": step}}
	r := &run{plan: p, manifest: m, exec: typeclient.New(typeclient.Options{}), facts: facts.New(p), stops: &stops{plan: p}, work: t.Context()}
	r.steps = r.stepRunner()
	return r, step, &outcome{Ended: report.Ended{Addr: "b"}}
}

// What is not known at the turn of a resource is never passed over.
func TestRun_WhatIsStillNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   func(*run, *plan.Step, *outcome) bool
		want string
	}{
		"a config": {func(r *run, step *plan.Step, out *outcome) bool {
			_, _, ok := r.steps.resolve(step, out)
			return ok
		}, "config: /v in its config comes from resource.a"},
		"a host": {func(r *run, step *plan.Step, out *outcome) bool {
			step.Settings.Host = &runner.Host{Name: "web"}
			r.steps.perform(t.Context(), step, out)
			return !out.Failed()
		}, "config: host.web is made of resource.a.state.ip"},
		"a precondition": {func(r *run, step *plan.Step, out *outcome) bool { return r.steps.preconditions(step, out) }, "precondition: It needs resource.a.state.v"},
		"a postcondition": {func(r *run, step *plan.Step, out *outcome) bool {
			r.facts.SetReached("b", observe.View{State: json.RawMessage(`{"v":1}`), Status: protocol.Valid}, nil)
			r.steps.postconditions(step, out)
			return !out.Failed()
		}, "postcondition: It needs resource.a.state.v"},
		"the precondition of an output": {func(r *run, _ *plan.Step, out *outcome) bool {
			report := &Report{Status: OK}
			r.plan.Outputs = map[string]plan.Output{"o": {}}
			out.Report.Reason = fmt.Sprint(r.outputs(report), report.Problems)
			return report.Status == OK
		}, "A precondition of the output o cannot be decided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, step, out := unknownRun(t)
			if passed := c.at(r, step, out); passed || !strings.Contains(out.Report.Failed+": "+out.Report.Reason, c.want) {
				t.Errorf("passed %v, %s: %s; want %s", passed, out.Report.Failed, out.Report.Reason, c.want)
			}
		})
	}
}

// What a resource gets of its dependencies can be too much to be told: nothing is
// run, at its turn and before its shutdown_first.
func TestRun_TooManyDependencies(t *testing.T) {
	t.Parallel()
	const many = 14 // each is reached on two ways from the next
	p := &plan.Plan{Resources: map[string]*plan.Step{}}
	for i := range many {
		s := &plan.Step{Part: &change.Update{}}
		if i > 0 {
			before := fmt.Sprintf("r%d", i-1)
			s.Aliases = map[string]string{"x": before, "y": before}
		}
		p.Resources[fmt.Sprintf("r%d", i)] = s
	}
	step := &plan.Step{Init: protocol.Type{Protocol: 1}, Aliases: map[string]string{"x": "r13"},
		Part: &change.Update{Answer: change.Answer{Shutdown: &protocol.Action{Name: "stop"}}}}
	p.Resources["b"] = step
	for name, at := range map[string]func(*run, *outcome){
		"at its turn":               func(r *run, out *outcome) { r.steps.perform(t.Context(), step, out) },
		"before its shutdown_first": func(r *run, out *outcome) { r.steps.shutdownOne(t.Context(), step, out) },
		"before it is recorded": func(r *run, out *outcome) {
			only := *r.plan
			only.Selection.RefreshOnly = true
			r.plan = &only
			r.steps = r.stepRunner()
			r.steps.still(step, out, protocol.Valid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, out := unknownRun(t)
			r.plan, r.facts, r.exec = p, facts.New(p), nil // whoever asks it has gone too far
			r.steps = r.stepRunner()
			out.Addr = "b2"
			if at(r, out); out.Report.Failed != report.FailedConfig || !strings.Contains(out.Report.Reason, "more than 10000") {
				t.Errorf("%+v", out.Report)
			}
		})
	}
}

// A plan records what was VALID once, and no more; and it moves what is there.
func TestRun_RecordsThatAreNotThere(t *testing.T) {
	t.Parallel()
	prior := state.Snapshot{Resources: map[string]state.Entry{"b": {Type: "thing:1"}}}
	t.Run("begun only", func(t *testing.T) {
		t.Parallel()
		r, step, out := unknownRun(t)
		r.prior, r.journal = prior, nil // whoever writes has gone too far
		r.steps = r.stepRunner()
		if r.steps.recordFound(step, out); out.Failed() {
			t.Errorf("%+v", out.Report)
		}
	})
	t.Run("a move to what is recorded already", func(t *testing.T) {
		t.Parallel()
		r, _, _ := unknownRun(t)
		r.prior, r.journal = prior, nil
		r.prior.Resources = map[string]state.Entry{"a": {}, "b": {}}
		r.plan.Moves = []moves.Move{{From: "a", To: "b"}}
		report := &Report{Status: OK, Resources: map[string]*ResourceReport{}}
		if err := r.all(t.Context(), report); err == nil || report.Status != Error || len(report.Moves) > 0 {
			t.Errorf("%v, %+v", err, report)
		}
	})
}
