package apply_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// check is one that refuses or stops something: the fault without it, and the test that
// fails then. What an apply refuses for any other reason, its runner or its state has refused.
type check struct {
	mutation.Fault
	test string
}

// checks lists all checks of this package. Each is named for what holds because of it.
func checks() []check {
	return []check{
		{mutation.In("a plan is applied once", "apply/fresh/fresh.go", "; was && !resumed {", "; was && !resumed && last.Run == \"\" {"), "TestResume_NotOfARunThatEnded"},
		{mutation.In("a plan belongs to one state file", "apply/fresh/fresh.go", "if p.Lineage != \"\" && s.Lineage != \"\" && p.Lineage != s.Lineage {", "if false {"), "TestCheck_PlanOfAnotherState"},
		{mutation.In("a signed plan begins the state of its place", "apply/fresh/fresh.go", "p.Begins == nil || p.Begins.Is(at) || resumed {", "true || p.Begins.Is(at) || resumed {"), "TestCheck_PlanOfAnotherPlace"},
		{mutation.In("a plan begins one state once", "apply/fresh/fresh.go", "if s.Lineage == begins.Lineage(p.ID) && s.Serial > 0 && !resumed {", "if false {"), "TestCheck_PlanOfAStateThatWasNotThere"},
		{mutation.In("the state file of a plan exists", "apply/fresh/fresh.go", "if p.Lineage != \"\" && s.Lineage == \"\" {", "if false {"), "TestCheck_PlanOfAnotherState"},
		{mutation.In("the entries that a plan was made with are unchanged", "apply/fresh/fresh.go", "if len(changed) > 0 {", "if len(changed) > 1000 {"), "TestStale_ByRelatedChangesOnly"},
		{mutation.In("what is destroyed has no new dependant", "apply/fresh/fresh.go", "if dependant, addr := newDependant(p, s); dependant != \"\" {", "if dependant, addr := newDependant(p, s); dependant != \"\" && false {"), "TestStale_DestroyByANewDependant"},
		{mutation.In("what is replaced has no new dependant", "apply/fresh/fresh.go", "(step.Change == plan.Destroy || step.Change == plan.Replace)", "(step.Change == plan.Destroy)"), "TestCheck_NewDependantOfWhatIsReplaced"},
		{mutation.In("an action has the name that was shown", "apply/stale.go", "a.Name == b.Name && ", ""), "TestSameActions"},
		{mutation.In("an action destroys what was shown to be destroyed", "apply/stale.go", "a.Destructive == b.Destructive && ", ""), "TestSameActions"},
		{mutation.In("an action has the image that was shown", "apply/stale.go", "a.Image == b.Image && ", ""), "TestSameActions"},
		{mutation.In("an action has the entrypoint that was shown", "apply/stale.go", "&& a.Entrypoint == b.Entrypoint", ""), "TestSameActions"},
		{mutation.In("an action has the arguments that were shown", "apply/stale.go", "&& slices.Equal(a.Args, b.Args)", ""), "TestSameActions"},
		{mutation.In("what a dead run recorded is unchanged", "apply/fresh/fresh.go", "done && s.Pin(addr) == hash {", "done && hash != \"x\" {"), "TestPinned"},
		{mutation.In("what a dead run began is resumed by the same plan only", "apply/fresh/fresh.go", "&& s.Unsettled[addr].Plan == died.Plan", ""), "TestPinned"},
		{mutation.In("what a dead run began had the planned entry before", "apply/fresh/fresh.go", "entry.Holds(pin) || clean.Holds(pin) ||", "true ||"), "TestPinned"},
		{mutation.In("what is forgotten because it was gone is still gone", "apply/run.go", "r.plan.Selection.RefreshOnly || step.Gone()", "false"), "TestForget_AsksAgainWhatWasGone"},
		{mutation.In("what an action began on is asked again before it is recorded as VALID", "apply/step.go", "again == nil && (doubts{r}).of(out.addr)", "false && (doubts{r}).of(out.addr)"), "TestRun_AsksAgainWhatAnActionWasBegunOn"},
		{mutation.In("what an action began on is asked again before it is recorded as found", "apply/record.go", "d.of(out.addr) {", "d.of(out.addr) && false {"), "TestRun_AsksAgainWhatAnActionWasBegunOn"},
		{mutation.In("what is asked again without actions has the same status", "apply/recheck.go", "answer.Status != want {", "false {"), "TestRun_AsksAgainWhatAnActionWasBegunOn"},
		{mutation.In("what is asked again can be given its dependencies", "apply/recheck.go", "if err != nil {\n\t\tout.fail(failedConfig, err)", "if false {\n\t\tout.fail(failedConfig, err)"), "TestRun_TooManyDependencies"},
		{mutation.In("the state of what is asked again can be read", "apply/recheck.go", "if err != nil {\n\t\tout.failQuery(err)", "if false {\n\t\tout.failQuery(err)"), "TestForget_WhatCannotBeAsked"},
		{mutation.In("the remaining actions are resumed by the same plan only", "apply/resume.go", "u.Plan == r.plan.ID && ", "u.Plan != \"\" && "), "TestResumes"},
		{mutation.In("the remaining actions are the last of those that were shown", "apply/resume.go", "&& rest(step, answer)", ""), "TestResumes"},
		{mutation.In("what a dead run completed is not repeated", "apply/confirm.go", "if r.completed(out.addr) {", "if false {"), "TestResume_CompletedAndChangedIsStale"},
		{mutation.In("a plug exists", "apply/plugs.go", "case err != nil:", "case false:"), "TestPlugsOfAPlan"},
		{mutation.In("a plug leads where it led in the plan", "apply/plugs.go", "case real != m.Source:", "case false:"), "TestPlugsOfAPlan"},
		{mutation.In("preconditions hold at the turn", "apply/step.go", "if !r.preconditions(step, out) {", "if false {"), "TestConditionsInAnApply"},
		{mutation.In("a config can be evaluated at the turn", "apply/step.go", "if diags.HasErrors() {\n\t\tout.fail(failedConfig, firstError(diags))\n\t\treturn nil, nil, false", "if false {\n\t\tout.fail(failedConfig, firstError(diags))\n\t\treturn nil, nil, false"), "TestRun_ConfigAtItsTurn"},
		{mutation.In("a config is known at the turn", "apply/step.go", "for _, pointer := range slices.Sorted(maps.Keys(resolved.Unknown)) {", "for _, pointer := range slices.Sorted(maps.Keys(resolved.Unknown))[:0] {"), "TestRun_WhatIsStillNotKnown"},
		{mutation.In("a config fits its schema at the turn", "apply/step.go", "len(found) > 0 {\n\t\tout.fail(failedConfig, found[0])", "len(found) > 1000 {\n\t\tout.fail(failedConfig, found[0])"), "TestRun_ConfigAtItsTurn"},
		{mutation.In("a resource can be given its dependencies", "apply/step.go", "if err != nil {\n\t\tout.fail(failedConfig, err)", "if false {\n\t\tout.fail(failedConfig, err)"), "TestRun_TooManyDependencies"},
		{mutation.In("an unchanged resource is asked again before others act on it", "apply/step.go", "&& !r.recheck[out.addr] &&", "&&"), "TestNoRefresh_AsksOnlyWhatChanged"},
		{mutation.In("a config is what the plan showed", "apply/step.go", "if !step.Flexible() && !r.sameConfig(step, out) {", "if false {"), "TestRun_ConfigFromAChangedStateIsStale"},
		{mutation.In("a config that was shown can still be evaluated", "apply/step.go", "if !diags.HasErrors() && string(now.Value) == string(step.Config) {", "if diags.HasErrors() || string(now.Value) == string(step.Config) {"), "TestRun_ConfigFromAChangedStateIsStale"},
		{mutation.In("the state can be read right before the actions", "apply/confirm.go", "if err != nil {\n\t\t\tout.failQuery(err)\n\t\t\treturn answer, false", "if err != nil && false {\n\t\t\tout.failQuery(err)\n\t\t\treturn answer, false"), "TestRun_Aborted"},
		{mutation.In("read_only resources are not acted upon", "apply/confirm.go", "if step.ReadOnly {", "if false {"), "TestRun_ReadOnlyIsLeftAlone"},
		{mutation.In("the image answers what the plan showed", "apply/confirm.go", "case !approved.covers(answer) && !r.resumes(step, out.addr, answer) && !(out.again && rest(step, answer)):", "case false:"), "TestQuestion_TheWorldChangesDuringIt"},
		{mutation.In("what was queried early is decided at its turn", "apply/confirm.go", "case step.Flexible() || step.Early:", "case step.Flexible():"), "TestEarly_IsQueriedAgainAtItsTurn"},
		{mutation.In("what a dead run was shown to do needs no other approval", "apply/approve.go", " ||\n\t\tr.resumes(step, out.addr, found)\n", "\n"), "TestEarly_IsResumed"},
		{mutation.In("what is approved after a question is asked again", "apply/confirm.go", "if !ok || !asked {", "if !ok || asked || !asked {"), "TestQuestion_TheWorldChangesDuringIt"},
		{mutation.In("what was started again since its shutdown is shut down again", "apply/confirm.go", "stopped && (after == nil || after.ShutdownFirst != nil)", "stopped"), "TestShutdown_StopsAgainWhatWasStartedAgain"},
		{mutation.In("after a shutdown only what follows from it is run", "apply/confirm.go", "len(approved.actions) > 0 && sameActions(after.Actions, answer.Actions)", "len(approved.actions) > 0"), "TestShutdown_StrangerIsNoticedAfterIt"},
		{mutation.In("nothing follows a shutdown_first that failed", "apply/step.go", "answer.ShutdownFirst != nil && !r.runShutdown(ctx, step, out, in, answer, true) {", "answer.ShutdownFirst != nil && !r.runShutdown(ctx, step, out, in, answer, true) && false {"), "TestShutdown_LateAndFailed"},
		{mutation.In("no action starts after an interrupt", "apply/step.go", "if out.interrupted(ctx, action, answer.Actions[i:]) {", "if false {"), "TestRun_InterruptedBetweenActions"},
		{mutation.In("each action is approved where each is asked about", "apply/step.go", "if !r.approveAction(ctx, step, out, in, answer, action) {", "if false {"), "TestConfirming"},
		{mutation.In("no action follows one that failed", "apply/step.go", "if !r.runAction(step, out, in, answer.StaleState, action, at) {", "if !r.runAction(step, out, in, answer.StaleState, action, at) && false {"), "TestRun_StartsNothingThatCannotBeRecorded"},
		{mutation.In("an action is on record before it starts", "apply/step.go", "err != nil {\n\t\tout.failJournal(err)\n\t\treturn false\n\t}\n\tout.acted = true", "err != nil && false {\n\t\tout.failJournal(err)\n\t\treturn false\n\t}\n\tout.acted = true"), "TestRun_StartsNothingThatCannotBeRecorded"},
		{mutation.In("the end of an action is on record before the next", "apply/step.go", "if jerr != nil {", "if false {"), "TestRun_StartsNothingThatCannotBeRecorded"},
		{mutation.In("an action of unknown outcome is not completed", "apply/step.go", "out.report.Status = Unknown\n\t\treturn false", "out.report.Status = OK\n\t\treturn true"), "TestAction_WhoseEndIsNotKnown"},
		{mutation.In("an action that failed is not completed", "apply/step.go", "if err == nil {\n\t\treturn true\n\t}\n\tout.fail(a.Name, err)", "if err == nil || result.ExitCode != 0 {\n\t\treturn true\n\t}\n\tout.fail(a.Name, err)"), "TestReplaceHalfWay"},
		{mutation.In("the state can be read after the actions", "apply/step.go", "if err != nil {\n\t\tout.failQuery(err)\n\t\treturn answer, true, false", "if false {\n\t\tout.failQuery(err)\n\t\treturn answer, true, false"), "TestRun_StateThatCannotBeAsked"},
		{mutation.In("the actions reached the intended status", "apply/step.go", "if !reached(step, answer) {\n\t\twant", "if false {\n\t\twant"), "TestRun_ActionsThatDidNotHelp"},
		{mutation.In("the state holds what was forecast", "apply/step.go", "missing != \"\" {", "missing == \"x\" {"), "TestRun_ActionsThatDidNotHelp"},
		{mutation.In("what was refused or stale is no attempt", "apply/retry.go", "n > 1 && (out.declined || out.report.Stale != nil)", "false"), "TestRetry_AsOftenAsSaid"},
		{mutation.In("an action of unknown outcome is not retried", "apply/retry.go", "o.report.Status == Error && !o.fatal", "!o.fatal"), "TestRetry_NotAfter"},
		{mutation.In("an interrupt ends the pause before an attempt", "apply/retry.go", "if !r.pause(ctx, pause) {", "if r.pause(ctx, pause); false {"), "TestRetry_NotAfter"},
		{mutation.In("an attempt runs the remaining actions of those shown", "apply/retry.go", "n > 0 && sameActions(step.Actions[n:], answer.Actions)", "n > 0"), "TestRetry_AsOftenAsSaid"},
		{mutation.In("a semaphore has as many places as slots", "apply/turns/semaphores.go", "make(chan struct{}, s.Slots)", "make(chan struct{}, s.Slots+1)"), "TestSemaphores_BoundWhoActs"},
		{mutation.In("a semaphore stays taken until the state was read", "apply/step.go", "defer free()", "free()"), "TestSemaphores_BoundWhoActs"},
		{mutation.In("deferred=stop stops", "apply/approve.go", "case !same && policy == DeferredStop:", "case false:"), "TestApproval_OfWhatMayChange"},
		{mutation.In("where no question can be asked nothing is approved", "apply/approve.go", "case r.options.Ask == nil:", "case r.options.Ask == nil && false:"), "TestDeferred_BecomesKnownDuringAnApply"},
		{mutation.In("a resource that was refused is not approved", "apply/approve.go", "return true, false\n\t}\n\tr.approvals.set", "return true, true\n\t}\n\tr.approvals.set"), "TestConfirming"},
		{mutation.In("with kinds there is a question for each other kind", "apply/approve.go", "policy == DeferredByKinds && kind,", "policy == DeferredByKinds,"), "TestDeferred_BecomesKnownDuringAnApply"},
		{mutation.In("a resource without a shown action needs a question", "apply/approvals.go", "return len(a.actions) > 0 && sameActions(a.actions, found.Actions)", "return sameActions(a.actions, found.Actions)"), "TestApproval_Covers"},
		{mutation.In("a shutdown_first is shown first", "apply/approvals.go", "&& a.coversShutdown(found.ShutdownFirst)", "&& (true || a.coversShutdown(found.ShutdownFirst))"), "TestApproval_Covers"},
		{mutation.In("a shutdown_first is the action that was shown", "apply/approvals.go", "&& sameAction(*found, *a.shutdown)", ""), "TestApproval_Covers"},
		{mutation.In("what comes after a shutdown_first of unknown values is what was shown", "apply/approve.go", "slices.EqualFunc(step.Actions, found.Actions, sameButArguments)", "slices.Equal(names(step.Actions), names(found.Actions))"), "TestShutdown_NothingElseIsDestroyedAfterIt"},
		{mutation.In("what a shutdown_first changes makes no action destroy what exists", "apply/confirm.go", "&&\n\t\t(protocol.Destructive(nil, answer.Actions) == \"\" || protocol.Destructive(nil, approved.actions) != \"\") {", "{"), "TestShutdown_NothingElseIsDestroyedAfterIt"},
		{mutation.In("a retry runs no shutdown_first that was not shown", "apply/retry.go", " && approval{shutdown: step.Shutdown}.coversShutdown(answer.ShutdownFirst)", ""), "TestRetry_AsOftenAsSaid"},
		{mutation.In("an interrupt at a question approves nothing", "apply/approvals.go", "case ctx.Err() != nil:", "case ctx.Err() != nil && false:"), "TestQuestion_Interrupted"},
		{mutation.In("quit refuses all that follows", "apply/approvals.go", "if answer == All || answer == Quit {", "if answer == All {"), "TestConfirming"},
		{mutation.In("a closed terminal approves nothing", "apply/approvals.go", "case err == nil && (answer == Yes || answer == All):", "case err != nil || answer == Yes || answer == All:"), "TestQuestion_Interrupted"},
		{mutation.In("forgetting needs a question", "apply/approvals.go", "if a.options.Confirm == ConfirmPlan || slices.Contains(a.options.Kinds, plan.Forget) {", "if true || slices.Contains(a.options.Kinds, plan.Forget) {"), "TestQuestion_AboutForgetting"},
		{mutation.In("a forget that was not approved is not done", "apply/run.go", "if r.approvals.forget(ctx, step, out) {", "if r.approvals.forget(ctx, step, out); true {"), "TestQuestion_AboutForgetting"},
		{mutation.In("questions come one after the other", "apply/run.go", "o.Parallelism = 1", "o.Parallelism += 0"), "TestConfirming"},
		{mutation.In("a precondition can be decided", "apply/conditions.go", "broken(\"A precondition\", open, diags)", "broken(\"A precondition\", open[:0], diags)"), "TestRun_WhatIsStillNotKnown"},
		{mutation.In("a postcondition can be decided", "apply/conditions.go", "broken(\"A postcondition\", open, diags)", "broken(\"A postcondition\", open[:0], diags)"), "TestRun_WhatIsStillNotKnown"},
		{mutation.In("postconditions hold", "apply/record.go", "\tr.postconditions(step, out)\n", "\n"), "TestConditionsInAnApply"},
		{mutation.In("a removal is on record", "apply/record.go", "if err := r.journal.Removed(out.addr); err != nil {", "if err := r.journal.Removed(out.addr); err != nil && false {"), "TestRun_WhatCannotBeRecordedIsTold"},
		{mutation.In("what was reached is on record", "apply/record.go", "if err := r.journal.Valid(out.addr, entry); err != nil {\n\t\t\tout", "if err := r.journal.Valid(out.addr, entry); err != nil && false {\n\t\t\tout"), "TestRun_StartsNothingThatCannotBeRecorded"},
		{mutation.In("what was found is on record", "apply/record.go", "if err := r.journal.Valid(out.addr, entry); err != nil {\n\t\tout", "if err := r.journal.Valid(out.addr, entry); err != nil && false {\n\t\tout"), "TestRun_WhatCannotBeRecordedIsTold"},
		{mutation.In("only what was VALID once is recorded as found", "apply/record.go", "if !known || entry.Incomplete() {", "if !known {"), "TestRun_RecordsThatAreNotThere"},
		{mutation.In("a forget is on record", "apply/run.go", "err := r.journal.Removed(out.addr); err != nil {", "err := r.journal.Removed(out.addr); err != nil && false {"), "TestRun_WhatCannotBeRecordedIsTold"},
		{mutation.In("moves can be made", "apply/run.go", "moved, err := r.prior.Moved(r.plan.Moves)\n\tif err == nil {", "moved, err := r.prior.Moved(r.plan.Moves)\n\tif err = nil; err == nil {"), "TestRun_RecordsThatAreNotThere"},
		{mutation.In("moves are on record before anything is done", "apply/run.go", "if err != nil {\n\t\treturn diag.From(\"Cannot move\", err)", "if err != nil && false {\n\t\treturn diag.From(\"Cannot move\", err)"), "TestMovesComeBeforeEverything"},
		{mutation.In("nothing is done where moves fail", "apply/run.go", "if err = r.move(report); err == nil {", "if err = r.move(report); true {"), "TestMovesComeBeforeEverything"},
		{mutation.In("nothing follows a shutdown that failed", "apply/run.go", "if r.shutdownPhase(ctx) {", "if r.shutdownPhase(ctx); true {"), "TestShutdown_NothingFollowsAFailedOne"},
		{mutation.In("nothing starts that depends on what was refused", "apply/run.go", "case out.declined:\n\t\t\t\tfrontier.Drop", "case out.declined:\n\t\t\t\tfrontier.Done"), "TestConfirming"},
		{mutation.In("nothing starts that depends on what failed", "apply/run.go", "case out.failed():\n\t\t\t\tfrontier.Drop", "case out.failed():\n\t\t\t\tfrontier.Done"), "TestAction_WhoseEndIsNotKnown"},
		{mutation.In("nothing new starts after a failure", "apply/hosts.go", "case len(s.r.plan.Hosts) == 0:\n\t\treturn true", "case len(s.r.plan.Hosts) == 0:\n\t\treturn false"), "TestRun_WithoutKeepGoing"},
		{mutation.In("nothing new starts after what could not be recorded", "apply/hosts.go", "case out.fatal:\n\t\treturn true", "case out.fatal && !s.r.options.KeepGoing:\n\t\treturn true"), "TestRun_StartsNothingThatCannotBeRecorded"},
		{mutation.In("no resource starts after an interrupt", "apply/run.go", "return !stopping && ctx.Err() == nil", "return !stopping"), "TestRun_InterruptedBeforeItBegins"},
		{mutation.In("an unknown outcome counts as a failure", "apply/run.go", "|| o.report.Status == Interrupted || o.report.Status == Unknown", "|| o.report.Status == Interrupted"), "TestAction_WhoseEndIsNotKnown"},
		{mutation.In("an interrupted resource counts as a failure", "apply/run.go", "|| o.report.Status == Interrupted || o.report.Status == Unknown", "|| o.report.Status == Unknown"), "TestRun_Aborted"},
		{mutation.In("a second interrupt ends what runs", "apply/run.go", "case <-o.Abort:\n\t\t\tabort(errAborted)", "case <-o.Abort:"), "TestRun_Aborted"},
		{mutation.In("nothing new starts after a fault of this program", "apply/guard.go", "out.fatal = true", "out.fatal = false"), "TestGuard_ReportsAFaultOfOurOwn"},
		{mutation.In("the outcome of an action is unknown after a fault of this program", "apply/guard.go", "if out.running != \"\" {", "if false {"), "TestGuard_ReportsAFaultOfOurOwn"},
		{mutation.In("a fault between two resources is reported", "apply/run.go", "report.Fail(d)", "_ = d"), "TestGuard_ReportsAFaultOfOurOwn"},
		{mutation.In("an interrupted run says so", "apply/conclude.go", "stopped := ctx.Err() != nil &&", "stopped := false &&"), "TestInterrupt_LetsTheRunningActionFinish"},
		{mutation.In("a run is ok only if all was done", "apply/report.go", "case failed || counts[Error]+counts[Unknown] > 0:", "case counts[Error]+counts[Unknown] > 100:"), "TestReplaceHalfWay"},
		{mutation.In("a run with something not started is not ok", "apply/report.go", "case counts[NotStarted]+counts[Left] > 0:", "case counts[Left] > 0:"), "TestConfirming"},
		{mutation.In("outputs are not recorded after a failure", "apply/conclude.go", "if report.Whole() && fatal == nil {", "if true {"), "TestRun_StartsNothingThatCannotBeRecorded"},
		{mutation.In("the precondition of an output can be decided", "apply/conclude.go", "if len(v.Open) > 0 && !r.plan.Outputs[v.Name].LeftOut {", "if false {"), "TestRun_WhatIsStillNotKnown"},
		{mutation.In("an output that cannot be evaluated is an error", "apply/conclude.go", "if diags.HasErrors() {\n\t\treport.settle(false, true)", "if false {\n\t\treport.settle(false, true)"), "TestRun_WhatIsStillNotKnown"},
		{mutation.In("outputs are on record", "apply/conclude.go", "err := r.journal.Outputs(outputs)\n", "err := r.journal.Outputs(outputs)\n\terr = nil\n"), "TestRun_WhatCannotBeRecordedIsTold"},
		{mutation.In("what was destroyed and not made again is an error", "apply/conclude.go", "\thalfReplaced(r.plan, r.ended, r.facts, report)\n", ""), "TestReplaceHalfWay"},
		{mutation.In("an action is not started when interrupted", "apply/failure.go", "if ctx.Err() == nil {\n\t\treturn false", "if ctx.Err() == nil || true {\n\t\treturn false"), "TestRun_InterruptedBetweenActions"},
		{mutation.In("an aborted read of a state is an interrupt", "apply/failure.go", "if errors.Is(err, errAborted) {\n\t\to", "if false {\n\t\to"), "TestRun_Aborted"},
		{mutation.In("an aborted action is an interrupt", "apply/step.go", "if errors.Is(err, errAborted) {\n\t\tout", "if errors.Is(err, errAborted) && false {\n\t\tout"), "TestRun_Aborted"},
		{mutation.In("no shutdown_first starts after an interrupt", "apply/shutdown.go", "if ctx.Err() != nil {\n\t\t\tout.report.Status", "if false {\n\t\t\tout.report.Status"), "TestShutdown_Interrupted"},
		{mutation.In("a resource can be given its dependencies before its shutdown", "apply/shutdown.go", "if err != nil {\n\t\tout.fail(failedConfig, err)", "if false {\n\t\tout.fail(failedConfig, err)"), "TestRun_TooManyDependencies"},
		{mutation.In("the state can be read before a shutdown_first", "apply/shutdown.go", "if err != nil {\n\t\t\tout.failQuery(err)", "if err != nil && false {\n\t\t\tout.failQuery(err)"), "TestShutdown_StateThatCannotBeAsked"},
		{mutation.In("nothing is shut down that no longer needs it", "apply/shutdown.go", "if reached(step, answer) || answer.ShutdownFirst == nil {", "if false {"), "TestShutdown_IsNotWhatWasShown"},
		{mutation.In("a shutdown_first is what was shown", "apply/shutdown.go", "answer, ok := r.permitted(step, out, answer)\n\t\tif !ok {", "answer, ok := r.permitted(step, out, answer)\n\t\tif false {"), "TestShutdown_OnlyWhatWasShown"},
		{mutation.In("a shutdown_first is approved", "apply/shutdown.go", "asked, ok := r.approve(ctx, step, out, in, step.Sensitive, answer)\n\t\tif !ok {", "asked, ok := r.approve(ctx, step, out, in, step.Sensitive, answer)\n\t\tif ok = true; false {"), "TestShutdown_OnlyWhatWasShown"},
		{mutation.In("after a question the state is asked again before a shutdown_first", "apply/shutdown.go", "if !asked {\n\t\t\treturn r.run", "if asked || !asked {\n\t\t\treturn r.run"), "TestShutdown_OnlyWhatWasShown"},
		{mutation.In("an interrupted shutdown_first is not started", "apply/shutdown.go", "if out.interrupted(ctx, action, answer.Actions) || !r", "if !r"), "TestShutdown_Interrupted"},
		{mutation.In("each shutdown_first needs a question where each action does", "apply/shutdown.go", "|| !r.approveAction(ctx, step, out, in, answer, action) {", "{"), "TestShutdown_NothingFollowsAFailedOne"},
		{mutation.In("the identity of a resource belongs to no other", "apply/step.go", "if !(identities{r}).free(step, out, config) {", "if false {"), "TestLateIdentity"},
		{mutation.In("nothing is destroyed that turned out to belong to another resource", "apply/identity.go", "\t\towner = r.claimed(out.addr)\n", ""), "TestLateIdentity"},
		{mutation.In("an end waits until identities are known", "apply/identity.go", "\t\tr.facts.Claim(addr, r.thing(step, resolved.Value))\n", ""), "TestLateIdentity"},
		{mutation.In("two late identities differ", "apply/identity.go", "other := r.facts.Claimant(addr, t); other != \"\"", "other := r.facts.Claimant(addr, t); false"), "TestLateIdentity"},
		{mutation.In("a late identity is not that of another resource", "apply/identity.go", "if declared && things.Known(", "if declared && false && things.Known("), "TestLateIdentity"},
		{mutation.In("a late identity is not that of what ends", "apply/identity.go", "if stays && !entry.ReadOnly {", "if stays && false && !entry.ReadOnly {"), "TestLateIdentity"},
		{mutation.In("a late identity is that of what is recorded", "apply/identity.go", "return relation == match.Differs", "return false && relation == match.Differs"), "TestLateIdentity_OfAnotherThing"},
		{mutation.In("what a removal took with it is an error", "apply/askagain.go", "if answer.Status == protocol.Valid {", "if answer.Status != \"\" {"), "TestRemoval_TakesAnotherWithIt"},
		{mutation.In("what a removal took with it is recorded", "apply/askagain.go", "\tentry.LastSeen = &state.LastSeen", "\t_ = &state.LastSeen"), "TestRemoval_TakesAnotherWithIt"},
		{mutation.In("what may be the same thing waits for its end", "apply/run.go", "if b.OrderOnly {", "if b.OrderOnly || true {"), "TestEnds_Fail"},
		{mutation.In("a failed end holds back nothing that is another thing", "apply/run.go", "if b.OrderOnly {", "if b.OrderOnly && false {"), "TestEnds_Fail"},
		{mutation.In("what is made in place of another thing is on record", "apply/record.go", "&& !r.facts.IsGone(addr) || step", "|| step"), "TestReplaceHalfWay"},
		{mutation.In("what must be new does not exist at its turn", "apply/confirm.go", "if err := subject.Exists(step.New, step.Replaces, out.again || recorded(r, step, out.addr) != nil, answer.Status); err != nil {", "if err := subject.Exists(step.New, step.Replaces, out.again || recorded(r, step, out.addr) != nil, answer.Status); err != nil && false {"), "TestAdopt_AppearsBeforeApply"},
		{mutation.In("what already has its intended status is not acted upon", "apply/confirm.go", "if reached(step, answer) {", "if reached(step, answer) && len(answer.Actions) > 0 {"), "TestResume_DoesNotRepeatWhatWasCompleted"},
		{mutation.In("what is protected is not destroyed by an action that was not shown", "apply/approve.go", "if stays && !shown &&", "if false && stays && !shown &&"), "TestNotShown_IsNotDone"},
		{mutation.In("what is not allowed is not done", "apply/approve.go", "o != nil && !o(out.addr, found.Actions) {", "o != nil && !o(out.addr, found.Actions) && false {"), "TestNotShown_IsNotDone"},
		{mutation.In("a config that nobody has approved is not recorded, also if nothing is to be done for it", "apply/confirm.go", "if !out.again && r.approvals.onlyDrift(step)", "if false && r.approvals.onlyDrift(step)"), "TestRun_ARepairThatBecameAnother"},
		{mutation.In("only drift is repaired where only that is approved", "apply/approve.go", "same, policy := shown && !r.approvals.onlyDrift(step), r.options.Deferred", "same, policy := shown, r.options.Deferred"), "TestRun_ARepairThatBecameAnother"},
		{mutation.In("an action that did not say what it made is not retried", "apply/retry.go", "&& !o.silent && !o.declined", "&& !o.declined"), "TestRetry_NotAfterSilence"},
		{mutation.In("a retry does not ask again about a refused action", "apply/retry.go", "!o.silent && !o.declined", "!o.silent"), "TestRetry_NotAfterANo"},
		{mutation.In("a resource that is interrupted while it waits for a semaphore does nothing", "apply/step.go", "if free == nil {", "if free == nil && false {"), "TestSemaphores_Interrupted"},
		{mutation.In("another thing is forgotten on record when the new one begins", "apply/step.go", ", Another: letsGo(r, step, out.addr)}", ", Another: false && letsGo(r, step, out.addr)}"), "TestAnotherThing_IsResumed"},
		{mutation.In("what a dead run began in the place of another thing is asked for as that", "apply/step.go", "r.facts.IsGone(addr)) && !begun(r, step, addr) {", "r.facts.IsGone(addr)) {"), "TestAnotherThing_IsResumed"},
		{mutation.In("what a dead run began is no other thing where the old one has another address", "apply/resume.go", "done || step.Another && r.prior.Unsettled[addr].Plan == r.plan.ID", "done"), "TestAnotherThing_IsResumedWhereTheOldOneIsDeposed"},
		{mutation.In("another thing is forgotten once", "apply/resume.go", "&& !r.facts.Acted(addr)", ""), "TestAnotherThing_IsLetGoOfOnce"},
		{mutation.In("what cannot be read again after a removal is an error", "apply/askagain.go", "if err != nil {\n\t\tout.failQuery(err)", "if err != nil && false {\n\t\tout.failQuery(err)"), "TestRemoval_WhatCannotBeAskedAfterIt"},
		{mutation.In("what is left out and cannot be read again after a removal is an error", "apply/conclude.go", "fatal != nil || failures(report))", "fatal != nil)"), "TestRemoval_WhatWasNotLookedAtAfterIt"},
		{mutation.In("a run that did not look after a removal is interrupted", "apply/conclude.go", "report.Counts()[NotStarted] > 0 || unseen)", "report.Counts()[NotStarted] > 0 || unseen && false)"), "TestRemoval_WhatWasNotLookedAtAfterIt"},
		{mutation.In("what was not read after a removal is named", "apply/removals.go", "if len(unseen) == 0 {", "if len(unseen) < 1000 {"), "TestRemoval_WhatWasNotLookedAtAfterIt"},
		{mutation.In("what a removal took with it is on record, or the journal has failed", "apply/conclude.go", "if out.fatal {", "if out.fatal && out.what != order.Again {"), "TestRemoval_WhatWasNotLookedAtAfterIt"},
		{mutation.In("what a dead run destroyed is not destroyed again", "apply/run.go", "case out.old && r.endedBefore(out.addr):", "case out.old && r.endedBefore(out.addr) && false:"), "TestReplaceIsResumed"},
		{mutation.In("what a plan leaves is left", "apply/run.go", "case step.Change == plan.Left:", "case step.Change == plan.Left && false:"), "TestRefreshOnly_Records"},
		{mutation.In("a plan that only records runs nothing", "apply/run.go", "case step.Change == plan.Record:", "case step.Change == plan.Record && false:"), "TestRefreshOnly_Records"},
		{mutation.In("an end waits while the identity of another stays unknown", "apply/identity.go", "if diags.HasErrors() || !things.Known(step.Init, resolved.Unknown) {", "if false && diags.HasErrors() && things.Known(step.Init, resolved.Unknown) {"), "TestLateIdentity_StaysUnknown"},
		{mutation.In("a failure stops its host", "apply/hosts.go", "\tlimits.Stop(out.node)\n", ""), "TestRun_StopsAtTheHostThatFailed"},
		{mutation.In("no further host begins after as many as may have failed", "apply/turns/hosts.go", "if why = h.why(host); why == \"\" {", "if why = \"\"; why == \"\" {"), "TestRun_HostsBeginWithTheirFirstAction"},
		{mutation.In("a host that was begun before the apply was killed is begun", "apply/turns/hosts.go", "h.begun[hostOf(addr)] = true", "_ = addr"), "TestRun_ResumesARollingApply"},
		{mutation.In("a host that had failed before the apply was killed has failed", "apply/hosts.go", "_ = s.r.journal.Failed(out.addr)", ""), "TestRun_ResumesARollingApply"},
		{mutation.In("a host that is made of states can be evaluated at the turn", "apply/latehost.go", "case diags.HasErrors():", "case false:"), "TestLateHost"},
		{mutation.In("a host that is made of states is known at the turn", "apply/latehost.go", "case len(open) > 0:", "case len(open) > 1000:"), "TestRun_WhatIsStillNotKnown"},
		{mutation.In("what was shown for one host is not done on another", "apply/latehost.go", "case !step.Flexible():", "case false:"), "TestLateHost_OfAnotherMachine"},
		{mutation.In("a host that is known only now can be reached by this program", "apply/latehost.go", "if r.options.Reacher == nil {", "if false {"), "TestLateHost"},
		{mutation.In("a host that is known only now is reached", "apply/latehost.go", "facts, err := r.options.Reacher.Reach(r.work, host)\n\tif err != nil {", "facts, err := r.options.Reacher.Reach(r.work, host)\n\tif err != nil && false {"), "TestLateHost"},
		{mutation.In("a host that is known only now has a machine of its own", "apply/latehost.go", "if err := r.facts.SetHost(host, facts, r.hostNames()); err != nil {", "if err := r.facts.SetHost(host, facts, r.hostNames()); err != nil && false {"), "TestLateHost_OneMachine"},
		{mutation.In("where plugs lead on a host that is known only now is seen", "apply/latehost.go", "found, err := r.options.Reacher.Look(r.work, host, append(asked, plugs.OnHosts(r.manifest.Plugs())...))\n\tif err != nil {", "found, err := r.options.Reacher.Look(r.work, host, append(asked, plugs.OnHosts(r.manifest.Plugs())...))\n\tif err != nil && false {"), "TestLateHost"},
		{mutation.In("a plug leads somewhere on a host that is known only now", "apply/latehost.go", "; found[i].Err != nil {", "; found[i].Err != nil && false {"), "TestLateHost"},
		{mutation.In("a link in a plug of others is not followed on a host that is known only now", "apply/latehost.go", "append(asked, plugs.OnHosts(r.manifest.Plugs())...)", "asked"), "TestLateHost_LinksOfOthers"},
		{mutation.In("a host that is known only now is the recorded machine, whatever the type says", "apply/identity.go", "|| now.Type.Repository == \"\" {", "|| len(now.Type.Names) == 0 {"), "TestLateHost_OfAnotherMachine"},
		{mutation.In("a host that no plan could know is its machine", "apply/facts/facts.go", "if pin := pins[name]; pin.Machine == \"\" {", "if pin := pins[name]; pin.Machine == \"-\" {"), "TestLateHost_OfAnotherMachine"},
	}
}

// checksPage lists them for who works on apply.
const checksPage = "../docs/internals/checks-of-apply.md"

// The documentation lists every check with its test. `make checks` takes out each, and
// wants that test to fail.
func TestChecks_Page(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(checksPage)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range checks() {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` |\n", c.Name, c.File, c.test)
	}
	if !strings.Contains(string(text), "|---|---|---|\n"+b.String()+"\n") {
		t.Errorf("%s does not have just these rows:\n%s", checksPage, b.String())
	}
}
