package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/hidden"
	"deployster/plan/inputs"
	"deployster/plan/recall"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/plan/things"
	"deployster/plan/unknowns"
	"deployster/plan/view"
	"deployster/protocol"
	"deployster/state"
)

// decide decides what to do with one resource, whose dependencies are all decided.
// It returns nil when that is not possible; the reason is reported.
func (b *builder) decide(ctx context.Context, r *config.Resource) *Step {
	before, recording := subject.Predecessors(r), b.Selection.RefreshOnly
	if conditional, _ := b.Manifest.Conditional(r.Address); conditional && !recording {
		if _, diags := b.Manifest.Preconditions(r.Address, b.scope(r.Address, before, b.outlook)); diags.HasErrors() {
			b.Report(r, "", diags) // apply checks those with unknown values right before its actions
			return nil
		}
	}
	resolved, diags := b.Manifest.Config(r.Address, b.scope(r.Address, before, b.look))
	if b.Report(r, "", diags); diags.HasErrors() {
		return nil
	}
	step := b.newStep(r, resolved)
	b.secret(step)
	violations := b.prober.CheckConfig(step.Init, step.Config, step.Unknown)
	if b.Report(r, "", subject.Violations(b.Manifest, r.Address, violations)); len(violations) > 0 {
		return nil
	}
	if !b.learn(r, step) || b.triggered(r) {
		return nil
	}
	if pair := b.identified.result.Pair(r.Address); pair.Replaced || b.Replaces(r.Address) {
		switch ok := b.replacePair(ctx, r, step, pair); {
		case !ok:
			return nil
		case step.Old != nil || recording:
			return step
		}
	}
	why, ok := mustWait(b, r, before, step)
	if !ok {
		return nil
	}
	if step.Reason = why; why != "" {
		if b.guessed(r.Address) { // no image can be asked yet whether the guess holds
			b.withdraw(r.Address, true)
			return nil
		}
		if recording {
			step.Change = Deferred
			b.recordOnly(r.Address, step)
			return step
		}
		return beforeItsTurn(ctx, b, r, before, step)
	}
	step.Reason = cmp.Or(b.whyMayChange(before), b.identified.doubts[r.Address])
	waiting := *step
	if step.MayChange = step.Reason != ""; !b.guessed(r.Address) && b.mayUseRecorded(r, step, before) {
		b.useRecorded(step, b.Prior.Resources[r.Address])
	} else if !b.ask(ctx, r, step) {
		return nil
	}
	if recording {
		b.recordOnly(r.Address, step)
		return step
	}
	return accepted(b, r, before, step, waiting)
}

// accepted returns what is to be done about a resource that has answered; nil = that is not allowed: it is reported.
// waiting is the step without the answer.
func accepted(b *builder, r *config.Resource, before []string, step *Step, waiting Step) *Step {
	if step.ReadOnly && step.Change != Valid && step.MayChange {
		*step = waiting // a change of its dependencies may make it valid
		step.Change = Deferred
		b.expect(r, step)
		return step
	}
	if step.MayChange && step.Change != Valid && onlyInOrder(b, r, before, step) {
		step.MayChange, step.Early = false, true
	}
	if step.MayChange && independent(b, r, before, step) {
		step.MayChange, step.Again = false, true
	}
	if step.ReadOnly && step.Change != Valid {
		b.Report(r, "", diag.Diagnostics{{Severity: diag.Error, Summary: "Read-only resource differs from its config",
			Detail: fmt.Sprintf("It is read_only, so deployster does not change it, but its image says %s instead of VALID. Fix it "+
				"outside of deployster, or change its config to match.", step.Answered()),
			Address: r.Address, Action: "state"}})
		return nil
	}
	if diags := append(noteDestroyed(b, r, step), b.postconditions(r.Address, before, step)...); diags.HasErrors() {
		b.Report(r, "", diags)
		return nil
	}
	return step
}

// ask asks the image of a resource for the state, and puts what follows into the step.
func (b *builder) ask(ctx context.Context, r *config.Resource, step *Step) bool {
	in, answer, ok := query(ctx, b, r, step)
	if !ok {
		return false
	}
	if b.guessed(r.Address) && !b.confirm(ctx, r, step, in, answer) {
		return false
	}
	answered(b, r, step, in, answer)
	return true
}

// answered puts an answer about the state of a resource, and what follows from it, into the step.
func answered(b *builder, r *config.Resource, step *Step, in protocol.StateInput, answer protocol.Answer) {
	entry, known := recorded(b, r.Address, step)
	step.take(answer)
	step.hide(b.prober, entry, config.Hider(b.Manifest))
	b.compareWithPrior(r.Address, step, in)
	if step.Change == Publish && known && len(entry.Config) > 0 {
		step.Was = &Was{State: entry.Config, Sensitive: entry.Sensitive.Config}
	}
	if note := things.Lost(entry, step.Type, step.Config, step.Init.Identity); known && !step.Another && step.Change == Create && note != "" {
		step.Notes = append(step.Notes, note)
	}
}

// query queries the state, and reports an error.
func query(ctx context.Context, b *builder, r *config.Resource, s *Step) (in protocol.StateInput, answer protocol.Answer, ok bool) {
	in, answer, err := stateOf(ctx, b, r, s, false)
	if err != nil {
		list := b.plugs.Blame(diag.From("Cannot read the state", err), err, s.Init)
		b.Report(r, "", subject.Locate(b.Manifest, r.Address, list, err))
		return in, answer, false
	}
	return in, answer, notTaken(b, r, s, answer)
}

// stateOf queries the image for the state, and reports to it which values are unknown.
func stateOf(ctx context.Context, b *builder, r *config.Resource, s *Step, once bool) (in protocol.StateInput, a protocol.Answer,
	err error) {
	b.progress(Asking{r.Address})
	if in, err = b.input(r, s); err != nil {
		return in, a, err
	}
	unknowns.Tell(&in, s.Unknown)
	target := s.Target(r.Address)
	target.Once = once
	a, err = b.prober.State(ctx, target, s.Init, in)
	return in, a, err
}

// notTaken reports whether a resource that must not exist yet does not exist; else it reports an error.
func notTaken(b *builder, r *config.Resource, s *Step, answer protocol.Answer) bool {
	_, known := b.Prior.Resources[r.Address]
	err := subject.Exists(s.New, s.Replaces, known && !s.Another, answer.Status)
	if err != nil {
		b.Report(r, "", diag.From("Resource exists already", err))
	}
	return err == nil
}

// noteDestroyed notes that a change destroys the existing thing, and refuses it if the resource is protected or created first.
func noteDestroyed(b *builder, r *config.Resource, s *Step) diag.Diagnostics {
	if s.Kind() != Replace {
		return nil
	}
	why := fmt.Sprintf("its image says that the action %q destroys what exists", protocol.Destructive(s.Shutdown, s.Actions))
	s.Notes = append(s.Notes, "It is approved as a replacement: "+why+".")
	entry, known := b.Prior.Resources[r.Address]
	s.NotMade = s.Stale != nil && (entry.Adopted || !known)
	switch {
	case r.PreventDestroy:
		return diag.Diagnostics{things.Protected("It has prevent_destroy = true", why)}
	case b.identified.first[r.Address]:
		return diag.Diagnostics{things.NotFirst("its type replaces it, and destroys what exists first", why)}
	}
	return nil
}

// postconditions checks the postconditions of a valid resource. Apply checks those of
// other resources after their actions.
func (b *builder) postconditions(addr string, before []string, s *Step) diag.Diagnostics {
	if _, conditional := b.Manifest.Conditional(addr); !conditional || s.Change != Valid || s.MayChange {
		return nil
	}
	_, diags := b.Manifest.Postconditions(addr, b.scope(addr, before, func(a string) view.View {
		if a == addr {
			return s.View()
		}
		return b.look(a)
	}))
	return diags
}

// recorded returns the entry of a resource, with the values that are not recorded as they are
// in the step.
func recorded(b *builder, addr string, s *Step) (state.Entry, bool) {
	entry, known := b.Prior.Resources[addr]
	return s.complete(b.prober, entry), known
}

func (s *Step) complete(schemas typeschema.Reader, e state.Entry) state.Entry {
	return hidden.Completed(schemas, s.Init, e, s.Config)
}

// newStep returns a step with what is known before the image is asked.
func (b *builder) newStep(r *config.Resource, resolved config.Resolved) *Step {
	ty := b.TypeOf(r.Address)
	return &Step{
		Type: r.TypeRef, Config: resolved.Value, Unknown: resolved.Unknown, Sensitive: hidden.InConfig(b.prober, ty, resolved),
		Ignored: resolved.Ignored, Staying: resolved.MayChange, ReadOnly: r.ReadOnly, Aliases: r.Aliases, Subscribes: r.Subscribes, Init: ty,
		Pull: r.Pull, Verify: r.Verify, Settings: r.Settings, RunsWith: r.Settings.Widened(), Mounts: b.Types.Mounts(r.Address),
		Timeouts: Timeouts{State: state.Duration(r.Timeouts.State), Action: state.Duration(r.Timeouts.Action)},
		Protect:  r.PreventDestroy, New: r.New && !r.ReadOnly && r.Publish == nil, OnRemove: string(r.OnRemove), Publishes: r.Publish != nil,
		Source:    r.Range.String(),
		SecretEnv: secret.FindEnv(r.Settings.Env, config.Hider(b.Manifest)),
	}
}

// input returns the stdin of a resource's state action.
func (b *builder) input(r *config.Resource, s *Step) (protocol.StateInput, error) {
	deps, err := view.Dependencies(s.Init, r.Aliases, b.look)
	in := protocol.StateInput{Config: s.Config, Intent: protocol.Present, Dependencies: deps}
	if entry, ok := recorded(b, r.Address, s); ok && !s.Another {
		recall.Tell(&in, b.Prior, r.Address)
		in.LastConfig = entry.Config
		if told := refresh.Tell(&in, &s.Init, r.Subscribes, entry, b.Prior, updates(b)); b.Selection.RefreshOnly {
			in.Refresh = false // a plan that only records runs no action
		} else if told != "" {
			s.Notes = append(s.Notes, told)
		}
	}
	return in, err
}

// take puts the answer of the image into the step, and the change that follows from it.
func (s *Step) take(a protocol.Answer) {
	s.State, s.Stale, s.Forecast, s.UnknownNew, s.Memory = a.State, a.StaleState, a.Forecast, a.Unknown, nil
	s.Actions, s.Shutdown, s.Reasons = a.Actions, a.ShutdownFirst, a.Reasons
	switch a.Status {
	case protocol.Valid:
		s.Change, s.Memory = Valid, a.Memory
	case protocol.Stale:
		s.Change = Update
	case protocol.Missing:
		if s.Change = Create; s.Publishes {
			s.Change = Publish
		}
	}
}

// hide finds the values in the answer that must not be shown: the secrets of the config
// and of the manifest, and those that the entry has. Those of a forecast are sensitive for
// what refers to it, as those of a state are.
func (s *Step) hide(schemas typeschema.Reader, prior state.Entry, known *secret.Hider) {
	there := s.State
	if there == nil {
		there = s.Stale
	}
	secrets := append(secret.Values(s.Config, s.Sensitive), hidden.OfEntry(prior)...)
	s.Hidden = slices.Concat(hidden.InState(schemas, s.Init, there, secrets, s.Sensitive, known),
		hidden.InState(schemas, s.Init, s.Forecast, secrets, s.Sensitive, known))
	s.Hidden = slices.Compact(slices.Sorted(slices.Values(s.Hidden)))
}

// unfinished is the reason for an incomplete entry: its thing was never seen to be VALID.
const unfinished = "an apply began to make it and did not finish"
const mayStay = "Its type says no identity: what the old config named may stay."

// compareWithPrior notes what follows from the entry in the state file: that the resource
// is adopted, that it has drifted, or that its config was changed without effect.
func (b *builder) compareWithPrior(addr string, s *Step, in protocol.StateInput) {
	entry, known := recorded(b, addr, s)
	known = known && !s.Another
	completed := known && !entry.Incomplete()
	s.Adopted = !s.ReadOnly && (!completed && s.Change == Valid || !known && s.Change == Update)
	s.Made = s.Adopted && known && s.Change == Valid && !entry.Adopted
	if completed && (s.Change == Create || s.Change == Update) {
		s.Inputs = changedInputs(b, addr, s, in)
		s.Drifted = inputs.Drift(s.Inputs)
	}
	if s.Change == Update && known && entry.Incomplete() && s.Reason == "" {
		s.Reason = unfinished
	}
	if !completed || s.Change == Create || string(entry.Config) == string(s.Config) {
		return
	}
	if s.Change == Valid && jsondoc.Same(entry.State, s.State) {
		s.Edited = hidden.Edits(entry.Config, s.Config, entry.Sensitive.Config, s.Sensitive)
	}
	if b.identified.result.Pair(addr).MayStay && len(s.Init.Identity) == 0 && !s.Publishes {
		s.Notes = append(s.Notes, mayStay)
	}
}

// expect notes the expected change of a deferred resource: one without an entry will be
// created, and one that was recorded with another config will be updated. For a recorded
// resource it also notes the recorded config, to show the difference.
func (b *builder) expect(r *config.Resource, s *Step) {
	entry, known := b.Prior.Completed(r.Address)
	entry = s.complete(b.prober, entry)
	switch {
	case known && !s.Another:
		s.Was = &Was{State: entry.Config, Sensitive: entry.Sensitive.Config}
		s.Inputs = inputs.Only(owed(b, s, entry), inputs.Pending) // no other input is known yet
		if !r.ReadOnly && unknowns.Differ(entry.Config, s.Config, s.Unknown) {
			s.Expected = Update
		}
		if b.identified.result.Pair(r.Address).MayStay && len(s.Init.Identity) == 0 && !s.Publishes && string(entry.Config) != string(s.Config) {
			s.Notes = append(s.Notes, mayStay)
		}
	case !r.ReadOnly:
		s.Expected = Create
	}
}
