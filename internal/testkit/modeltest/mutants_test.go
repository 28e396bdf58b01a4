//go:build mutants

package modeltest_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants are faults in the engine.
func mutants() []mutation.Fault {
	return []mutation.Fault{
		mutation.In("dependants start early", "apply/run.go", "graph.NewFrontier(r.plan.Nodes())",
			"graph.NewFrontier(func() graph.Graph {\n\tg := graph.Graph{}\n\tfor n, before := range r.plan.Nodes() {\n\t\tg[n] = before[:len(before)/2]\n\t}\n\treturn g\n}())"),
		mutation.In("a destroy overtakes the update that lets go", "apply/run.go", "graph.NewFrontier(r.plan.Nodes())",
			"graph.NewFrontier(func() graph.Graph {\n\tg := graph.Graph{}\n\tfor n, before := range r.plan.Nodes() {\n\t\tif p := r.plan.Resources[n]; p != nil && p.Change == plan.Destroy {\n\t\t\tbefore = nil\n\t\t}\n\t\tg[n] = before\n\t}\n\treturn g\n}())"),
		mutation.In("the plan does not order removals", "plan/remove.go", "if gone[dependency] {", "if gone[dependency] && gone[dependant] {"),
		mutation.In("acts without asking right before", "apply/confirm.go", "answer, err := r.exec.State(r.work, step.Target(out.addr), step.Init, in)",
			"answer, err := protocol.Answer{Status: protocol.Stale, StaleState: step.Stale, Actions: step.Actions, ShutdownFirst: step.Shutdown}, error(nil)\n\t\tif step.Flexible() || len(step.Actions) == 0 {\n\t\t\tanswer, err = r.exec.State(r.work, step.Target(out.addr), step.Init, in)\n\t\t}"),
		mutation.In("does what was not shown", "apply/approvals.go", "len(a.actions) > 0 && sameActions(a.actions, found.Actions) && a.coversShutdown", "len(a.actions) > 0 && a.coversShutdown"),
		mutation.In("what is VALID is not recorded", "apply/record.go", "if !known || out.acted || r.facts.IsGone(out.addr)", "if out.acted {\n\t\treturn\n\t}\n\tif !known || r.facts.IsGone(out.addr)"),
		mutation.In("a failed action is taken for a good one", "apply/step.go", "if err == nil {\n\t\treturn true\n\t}\n\tout.fail(a.Name, err)", "if err == nil || result.ExitCode == 7 {\n\t\treturn true\n\t}\n\tout.fail(a.Name, err)"),
		mutation.In("good actions are taken for a good state", "apply/step.go", "if !reached(step, answer) {\n\t\twant", "if false {\n\t\twant"),
		mutation.In("a plan whose entries have changed is accepted", "apply/fresh/fresh.go", "if len(changed) > 0 {", "if len(changed) > 1000 {"),
		mutation.In("a plan is applied twice", "apply/fresh/fresh.go", "; was && !resumed {", "; was && !resumed && last.Run == \"\" {"),
		mutation.In("what depends on a failure is started", "apply/run.go", "case out.failed():\n\t\t\t\tfrontier.Drop", "case out.failed():\n\t\t\t\tfrontier.Done"),
		mutation.In("goes on after a failure", "apply/hosts.go", "case s.r.options.KeepGoing:", "case true:"),
		mutation.In("an interrupt starts new work", "apply/failure.go", "if ctx.Err() == nil {\n\t\treturn false", "if ctx.Err() == nil || true {\n\t\treturn false"),
		mutation.In("shutdown_first is left for later", "apply/shutdown.go", "if step.Shutdown == nil {\n\t\t\tcontinue", "if step.Shutdown == nil || true {\n\t\t\tcontinue"),
		mutation.In("shutdown_first begins with what others depend on", "apply/shutdown.go", "range r.plan.DependantsFirst()", "range r.plan.Order()"),
		mutation.In("what is to be destroyed is forgotten", "apply/run.go", "case step.Change == plan.Forget:", "case step.Change == plan.Forget || step.Change == plan.Destroy:"),
		mutation.In("what may change is made as it was expected", "apply/step.go", "if step.Flexible() {\n\t\tif config, sensitive", "if step.Change == plan.Deferred {\n\t\tif config, sensitive"),
		mutation.In("an unknown outcome is taken for a good one", "apply/step.go", "out.report.Status = Unknown\n\t\treturn false", "out.report.Status, out.problem = OK, nil\n\t\treturn true"),
		mutation.In("acts before the intent is on record", "apply/step.go", "err := r.journal.ActionStarted(start); err != nil", "_, err := start, error(nil); err != nil"),
		mutation.In("prevent_destroy goes with its block", "plan/remove.go", "case entry.PreventDestroy:", "case false:"),
		mutation.In("secrets are told to nobody", "plan/build.go", "if b.options.Secret != nil && len(s.Sensitive) > 0 {", "if b.options.Secret != nil && len(s.Sensitive) > 1 {"),
		mutation.In("a killed apply forgets what was in flight", "state/replay.go", "InFlight: run.inFlight, Unconfirmed", "InFlight: nil, Unconfirmed"),
		mutation.In("a recovery drops what was recorded", "state/replay.go", "p.snapshot.Resources[r.Address] = e\n\t\tp.settle", "_ = e\n\t\tp.settle"),
		mutation.In("a watch does what nobody has approved", "plan/repair/policy.go", "slices.Contains(p.Kinds, Kind) && Answered(step, p.Prior.Resources[addr]):", "slices.Contains(p.Kinds, Kind):"),
		mutation.In("a watch repairs what others have changed since", "internal/app/repair.go", "if done.Snapshot.Serial != o.Prior.Serial || done", "if done"),
		mutation.In("a watch records what a person has to apply", "plan/repair/policy.go", "case settled && p.onlyDrift()", "case false && p.onlyDrift()"),
		mutation.In("a watch believes what drifted", "internal/app/repair.go", "o.Doubt, o.FromRegistry, o.Signed = policy.Addresses,", "o.Doubt, o.FromRegistry, o.Signed = nil,"),
		mutation.In("one that is not approved stops a whole repair", "plan/repair/repair.go", "if s.Flexible() && s.Shutdown == nil {", "if s.Flexible() {"),
		mutation.In("one that cannot be planned stops a whole repair", "plan/repair/policy.go", "return len(left) > before && !p.Whole", "return false && len(left) > before"),
		mutation.In("what is VALID early is not queried again", "plan/waits.go", "s.MayChange = true\n", ""),
		mutation.In("an error of an early query ends the plan", "plan/waits.go", "if err != nil {\n\t\twaiting.Reason +=", "if err != nil {\n\t\treturn nil\n\t}\n\tif err != nil {\n\t\twaiting.Reason +="),
		mutation.In("what takes values from others is planned early", "plan/waits.go", " && !subject.Takes(r, b.acts)", ""),
		mutation.In("what is early and differs is refused", "apply/confirm.go", "case step.Flexible() || step.Early:", "case step.Flexible():"),
		mutation.In("what moves is recorded twice", "state/moves.go", "delete(out.Resources, m.From)", "_ = m.From"),
	}
}

// TestMutants_AreSeen puts faults into the engine, one after the other, and
// wants the scenarios to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/testkit/modeltest", Run: "^Test", Flags: []string{"-test.skip", "Containers"},
		Env: []string{briefVariable + "=1"}, Sign: "step "}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
