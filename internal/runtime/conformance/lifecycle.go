package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// live checks a whole life cycle: it creates the resource, changes it, destroys it and
// creates it again.
func (e *engine) live(ctx context.Context) {
	defer e.image.watch.stop()
	if e.first.Status != protocol.Missing && e.image.ty.Absent {
		if !e.check(ctx, report.CheckRemoveOld, func(ctx context.Context) outcome { return e.remove(ctx, e.o.Config, nil) }) {
			e.skipAll("what existed before could not be removed", report.CheckActions)
			return
		}
	}
	right := e.check(ctx, report.CheckActions, e.create) && e.check(ctx, report.CheckValid, e.askValid)
	if right {
		e.check(ctx, report.CheckStateSchema, e.checkStateSchema)
		e.check(ctx, report.CheckForecast, func(context.Context) outcome { return keepsForecast(e.first, e.valid.State) })
		e.check(ctx, report.CheckTwice, e.applyTwice)
		e.check(ctx, report.CheckLastState, e.askWithLastState)
		e.check(ctx, report.CheckRefresh, func(ctx context.Context) outcome { return acceptsRefresh(ctx, e) })
		if e.image.ty.Unknowns {
			e.check(ctx, report.CheckUnknowns, func(ctx context.Context) outcome { return answersUnknowns(ctx, e) })
		}
		if e.image.ty.DiscoverAction != nil {
			e.check(ctx, report.CheckDiscover, func(ctx context.Context) outcome { return listsObject(ctx, e.image) })
		}
		e.check(ctx, report.CheckWatch, func(ctx context.Context) outcome { return e.image.watch.start(ctx, e.valid.State) })
		e.check(ctx, report.CheckWatchQuiet, e.image.watch.isQuiet)
		e.check(ctx, report.CheckWatchEnds, e.image.watch.endsWhenAsked)
		e.check(ctx, report.CheckWatchMany, e.image.watch.watchesMany)
		e.check(ctx, report.CheckRenamed, e.rename)
		e.check(ctx, report.CheckOther, func(ctx context.Context) outcome { return askOther(ctx, e) })
		e.check(ctx, report.CheckChanged, func(ctx context.Context) outcome { return askChanged(ctx, e) })
		e.check(ctx, report.CheckUpdate, e.update)
		e.check(ctx, report.CheckWorker, e.checkWorkerAnswers)
		e.check(ctx, report.CheckReuse, e.checkReuseAnswers)
		if len(e.image.ty.Operations) > 0 {
			e.check(ctx, report.CheckOperations, func(ctx context.Context) outcome { return runsOperations(ctx, e) })
		}
	}
	why := "a prerequisite failed"
	switch {
	case e.image.ty.Absent && e.image.made:
		if !e.end(ctx, right) && right {
			why = "it was not removed"
		}
	case !e.image.ty.Absent && right:
		e.check(ctx, report.CheckWatchTells, e.image.watch.reportedAll)
		why = "the image does not declare \"absent\": true, so it cannot remove anything"
	}
	if ctx.Err() == nil {
		e.skipAll(why, report.CheckActions)
	}
}

// end destroys the resource, creates it again if all checks before have passed, and
// reports whether the first removal succeeded.
func (e *engine) end(ctx context.Context, right bool) (removed bool) {
	if right {
		e.check(ctx, report.CheckUnreached, e.askUnreached)
	}
	gone := e.check(ctx, report.CheckAbsent, func(ctx context.Context) outcome { return e.remove(ctx, e.o.lastConfig(), e.valid.State) })
	if !gone {
		return false
	}
	e.check(ctx, report.CheckWatchTells, e.image.watch.reportedAll)
	e.image.watch.stop()
	if e.image.ty.Memory {
		e.check(ctx, report.CheckMemory, func(context.Context) outcome { return keepsMemory(e) })
	}
	e.check(ctx, report.CheckAbsentAgain, e.askAbsentAgain)
	if !e.check(ctx, report.CheckGone, e.askGone) || !right {
		return true
	}
	if !e.check(ctx, report.CheckRecreate, e.recreate) && !e.image.made {
		return true
	}
	if e.image.ty.Memory {
		e.check(ctx, report.CheckUnsettled, func(ctx context.Context) outcome { return createsOnce(ctx, e) })
	}
	e.check(ctx, report.CheckWorkerActs, e.checkWorkerActions)
	e.check(ctx, report.CheckReuseActs, e.checkReuseActions)
	if e.o.Keep {
		e.add(report.Check{Name: report.CheckDestroyed, Title: report.Titles[report.CheckDestroyed], Verdict: report.Skip,
			Reason: "it is to be kept"})
		return true
	}
	e.check(ctx, report.CheckDestroyed, func(ctx context.Context) outcome { return e.remove(ctx, e.o.lastConfig(), nil) })
	return true
}

const fixMemory = "Print the memory when the object is created, and {\"memory\": null} when it is removed; a type without memory omits " +
	"\"memory\" in its answer to init."

// keepsMemory checks the memory after the resource was created, and after it was destroyed.
func keepsMemory(e *engine) outcome {
	switch {
	case !e.remembered:
		return fail(fixMemory, "It was created, and the image returned no memory.")
	case e.image.memory != nil:
		return fail(fixMemory, "It was destroyed, and its memory is still kept.")
	}
	return pass("")
}

const fixActions = "An action that succeeds ends with exit code 0; one that fails ends with another, and a reason on stderr. Its " +
	"arguments are those of the answer to state."

// act runs the actions of an answer in their order.
func (i *image) act(ctx context.Context, a protocol.Answer, in protocol.StateInput) error {
	actions := a.Actions
	if a.ShutdownFirst != nil {
		actions = append([]protocol.Action{*a.ShutdownFirst}, actions...)
	}
	defer i.watch.noteActions(time.Now())
	i.acted = nil
	for _, action := range actions {
		i.acted = append(i.acted, action.Name)
		i.made = true // also if the action fails: it may be half done
		if in.Memory = i.memory; a.Memory != nil {
			in.Memory, a.Memory = a.Memory, nil // for the first action
		}
		whole := protocol.ActionInput{StateInput: in, StaleState: a.StaleState, IdempotencyKey: rand.Text(),
			ShownEffects: action.Effects}
		r, err := i.client(i.o.Workspace).Act(ctx, i.target, i.ty, action, whole)
		if said, silent := typeclient.Said(i.ty, r); !silent {
			if i.memory = said; string(said) == "null" {
				i.memory = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// after returns the input of the state query right after the actions of an answer, as
// apply sends it.
func after(done protocol.Answer, in protocol.StateInput) protocol.StateInput {
	for _, action := range done.Actions {
		in.After = append(in.After, action.Name)
	}
	return in
}

func (e *engine) create(ctx context.Context) outcome {
	in := present(e.o.Config)
	a, err := e.image.ask(ctx, in)
	switch {
	case err != nil:
		return failWith(e.image.recorder.StreamHint(fixState), err)
	case a.Status == protocol.Valid:
		return skip("it is VALID already")
	}
	e.first = a
	if err := e.image.act(ctx, a, in); err != nil {
		return failWith(fixActions, err)
	}
	out := pass("%s", describe(a))
	if wrote := e.image.recorder.Wrote(); len(wrote) > 0 {
		out.reason, out.fix = fmt.Sprintf("%s; left %s in its container", describe(a), words.List(wrote, 3)), fixWrites
	}
	return out
}

const fixWrites = "The files of a container are removed with it. Durable data belongs into a plug, or into a service; an action removes " +
	"its temporary files. With read_only_rootfs = true in the type block such a write is an error."

const fixValid = "After its actions the state must be VALID. Either an action failed without an error, or state compares something that " +
	"the actions do not change."

func (e *engine) askValid(ctx context.Context) outcome {
	a, err := e.image.ask(ctx, after(e.first, present(e.o.Config)))
	if err != nil {
		return failWith(e.image.recorder.StreamHint(fixState), err)
	}
	if a.Status != protocol.Valid {
		return fail(fixValid, "Expected VALID, got %s.%s", describe(a), reasons(a))
	}
	e.valid, e.remembered = a, e.image.memory != nil
	return pass("")
}

// reasons returns the reasons of an answer as text, each on its own line.
func reasons(a protocol.Answer) string {
	text := ""
	for _, r := range a.Reasons {
		text += "\n" + r.Path
		if len(r.Have) > 0 || len(r.Want) > 0 {
			text += fmt.Sprintf(": have %s, want %s", r.Have, r.Want)
		}
		if r.Message != "" {
			text += " " + r.Message
		}
	}
	return text
}

const fixStateSchema = "Correct the state or the state_schema: deployster refuses a state that does not fit it."

func (e *engine) checkStateSchema(context.Context) outcome {
	if len(e.image.ty.StateSchema) == 0 {
		return outcome{verdict: report.Skip, reason: "the image has no state_schema",
			fix: "A state_schema shows users what they may refer to, and this test finds mistakes in the state."}
	}
	if found := e.image.client("").CheckState(e.image.ty, e.valid.State); len(found) > 0 {
		return fail(fixStateSchema, "%s The state is %s", found[0].Sentence(), recording.Cut(string(e.valid.State)))
	}
	return pass("")
}

const fixForecast = "A forecast is a promise: it holds only what is known for certain of the state after the actions."

// keepsForecast compares the forecast in an answer with the state after the actions.
func keepsForecast(before protocol.Answer, state json.RawMessage) outcome {
	switch {
	case len(before.Forecast) == 0:
		return skip("nothing was forecast")
	case before.MayDiffer:
		return skip("the type declares that the state may differ from its forecast")
	}
	if diff := jsondoc.Unfulfilled(before.Forecast, state, before.Unknown); diff != "" {
		return fail(fixForecast, "%s", diff)
	}
	return pass("")
}

const fixTwice = "When nothing has changed, return VALID and the same state again. Omit values that change by themselves."

func (e *engine) applyTwice(ctx context.Context) outcome {
	return e.image.sameAnswer(ctx, present(e.o.Config), e.valid, fixTwice)
}

const fixLastState = "\"last_state\" is a hint, for instance where to search first. Read the object to decide whether it is valid."

func (e *engine) askWithLastState(ctx context.Context) outcome {
	if e.image.ty.Protocol == 1 {
		return skip("protocol 1 has no last_state")
	}
	in := present(e.o.Config)
	in.LastState = e.valid.State
	return e.image.sameAnswer(ctx, in, e.valid, fixLastState)
}

const fixRenamed = "Find the object by its config or by \"last_state\", not by the \"name\" next to the config, which a moved block of " +
	"a manifest changes."

// rename queries the same object under another resource name. A type may find its objects
// by that name only: then its users cannot rename resources.
func (e *engine) rename(ctx context.Context) outcome {
	before := e.image.target.Address
	defer func() { e.image.target.Address = before }()
	e.image.target.Address = e.o.Name + "-renamed"
	in := present(e.o.Config)
	in.LastState = e.valid.State
	out := e.image.sameAnswer(ctx, in, e.valid, fixRenamed)
	if out.verdict == report.Fail {
		out.verdict, out.reason = report.Skip, "under another name it is another object"
	}
	return out
}

const fixUpdate = "Compare each property of the config with what exists: one that is omitted must be unset, and of a secret keep a " +
	"fingerprint. If the second config describes the same object, use another."

// update checks that the actions for a second config lead to it.
func (e *engine) update(ctx context.Context) outcome {
	if e.o.Then == nil {
		return skip("no second config was given (-then FILE)")
	}
	in := present(e.o.Then)
	in.LastState = e.valid.State
	a, err := e.image.ask(ctx, in)
	switch {
	case err != nil:
		return failWith(e.image.recorder.StreamHint(fixState), err)
	case a.Status == protocol.Missing:
		return fail("The same object must be found under the changed config; its identity must not change. If this config names another "+
			"object, use one that does not.",
			"With the second config the image reports that nothing exists.")
	case a.Status == protocol.Valid && e.image.made:
		return fail(fixUpdate, "It is VALID with the second config, too, without any change: the difference is not compared.")
	}
	if err := e.image.act(ctx, a, in); err != nil {
		return failWith(fixActions, err)
	}
	before := a
	if a, err = e.image.ask(ctx, after(before, in)); err != nil {
		return failWith(e.image.recorder.StreamHint(fixState), err)
	}
	if a.Status != protocol.Valid {
		return fail(fixValid, "Expected VALID, got %s.%s", describe(a), reasons(a))
	}
	if diff := jsondoc.Unfulfilled(before.Forecast, a.State, before.Unknown); diff != "" && !before.MayDiffer {
		return fail(fixForecast, "%s", diff)
	}
	e.valid = a
	return pass("%s", describe(before))
}
