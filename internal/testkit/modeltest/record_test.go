package modeltest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"deployster/apply"
	"deployster/internal/testkit/modeltest"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// comparePlan holds a plan to what the model says.
func comparePlan(p *plan.Plan, e *expectation) error {
	got, want := slices.Sorted(maps.Keys(p.Resources)), slices.Sorted(maps.Keys(e.resources))
	if !slices.Equal(got, want) {
		return failf("plan", "it has %v, the model %v", got, want)
	}
	for _, addr := range want {
		x, s := e.resources[addr], p.Resources[addr]
		shown := func(change string, may, early, adopted, drifted bool, moved string, actions []protocol.Action, shutdown *protocol.Action) string {
			return fmt.Sprintf("%s may=%v early=%v adopted=%v drifted=%v moved=%q %s", change, may, early, adopted, drifted, moved,
				spell(actions, shutdown))
		}
		is := shown(string(s.Change()), s.Certainty == plan.MayChange, s.Certainty == plan.Early, s.Adopted(), s.Drifted(), s.MovedFrom,
			s.Answer().Actions, s.Answer().Shutdown)
		should := shown(x.change, x.may, x.early, x.adopted, x.drifted, x.movedFrom, x.answer.Actions, x.answer.ShutdownFirst)
		if is != should {
			return failf("plan", "%s is %s, and should be %s", addr, is, should)
		}
		if x.change != "deferred" && canonical(s.Config) != canonical(x.config) {
			return failf("plan", "%s has the config %s, and should have %s", addr, s.Config, x.config)
		}
		if canonical(s.Answer().State) != canonical(x.answer.State) || canonical(s.Answer().Stale) != canonical(x.answer.StaleState) {
			return failf("plan", "%s shows %s %s, and there is %s %s", addr, s.Answer().State, s.Answer().Stale, x.answer.State, x.answer.StaleState)
		}
		if before := p.Before()[addr]; !slices.Equal(slices.Sorted(slices.Values(before)),
			slices.Compact(slices.Sorted(slices.Values(x.before)))) {
			return failf("plan", "%s waits for %v, and should for %v", addr, before, x.before)
		}
	}
	return nil
}

// spell writes actions down.
func spell(actions []protocol.Action, shutdown *protocol.Action) string {
	if shutdown != nil {
		actions = append([]protocol.Action{*shutdown}, actions...)
	}
	text := ""
	for _, a := range actions {
		text += fmt.Sprintf("[%s %s %s %v]", a.Name, a.Image, a.Entrypoint, a.Args)
	}
	return text
}

// record: what is right is recorded, with what it was made of; what is gone is
// not; of all else what was recorded before is kept.
func (v *verdict) record(res *resourceRun) error {
	entry, recorded := v.after.Resources[res.addr]
	moved := func() bool { // as it was before, also under its old address if the process died before it moved
		was, ok := v.before.Resources[res.addr]
		if res.x.entry != nil {
			was, ok = *res.x.entry, true
		}
		if v.out.crashed && res.x.movedFrom != "" && !recorded {
			entry, recorded = v.after.Resources[res.x.movedFrom]
		}
		same := string(was.Config) == string(entry.Config) && string(was.State) == string(entry.State) && was.Type == entry.Type
		return ok == recorded && (!ok || same)
	}
	if v.out.crashed {
		begun := res.x.entry == nil && len(res.main)+len(res.stops) > 0
		if err := v.rightlyRecorded(res); err != nil && (begun || !moved()) {
			if res.x.entry == nil && v.rightlyBegun(res) == nil {
				return nil // its action may have been recorded, and not have come to run
			}
			return failf("crash", "%s is recorded neither as it was before nor as it is: %v", res.addr, err)
		}
		return nil
	}
	if res.done() || v.wasDone(res) {
		return v.rightlyRecorded(res)
	}
	if acted := len(res.main)+len(res.stops) > 0; recorded && acted && !entry.Dirty {
		return failf("record", "%s is %s, actions were run, and it is recorded as if nothing had been", res.addr, res.report.Status)
	}
	if res.x.entry == nil && len(res.main)+len(res.stops) > 0 {
		return v.rightlyBegun(res)
	}
	if !moved() {
		return failf("record", "%s is %s, and what is recorded of it was changed: %v %s %s", res.addr, res.report.Status, recorded,
			entry.Config, entry.State)
	}
	return nil
}

// rightlyBegun holds what is recorded of a thing that was begun, and was not there
// or not known before, to what it takes to destroy it.
func (v *verdict) rightlyBegun(res *resourceRun) error {
	entry, recorded := v.after.Resources[res.addr]
	if !recorded || !entry.Dirty || !onlyBegun(entry) {
		return failf("record", "%s is begun, and recorded is %v %+v", res.addr, recorded, entry)
	}
	want, i := v.config(res), res.x.instance
	if len(res.main)+len(res.stops) == 0 || res.query == nil {
		want = entry.Config
	} else if len(res.main) == 0 {
		want = res.query.In.Config // it was shut down with what was expected
	}
	if canonical(entry.Config) != canonical(want) || entry.Type != modeltest.Reference(i.Kind) || entry.Digest != res.shown.Init.Digest ||
		entry.PreventDestroy != i.Protect ||
		(entry.OnRemove == "forget") != i.Forget || !slices.Equal(slices.Sorted(slices.Values(entry.Dependencies)), v.declared.predecessors(*i)) {
		return failf("record", "%s is begun, and recorded as %+v; its config is %s", res.addr, entry, want)
	}
	return nil
}

// rightlyRecorded compares an entry with what was reached.
func (v *verdict) rightlyRecorded(res *resourceRun) error {
	entry, recorded := v.after.Resources[res.addr]
	if res.x.instance == nil {
		if recorded {
			return failf("record", "%s is gone or forgotten, and still recorded", res.addr)
		}
		if res.x.change == "destroy" && (res.last == nil || !res.last.well() || !res.wanted(res.last.Answer)) {
			return failf("record", "%s was dropped, and was not seen to be gone", res.addr)
		}
		return nil
	}
	reached := v.truth(res.addr)
	if !recorded || reached == nil || canonical(entry.State) != canonical(reached) || canonical(entry.Config) != canonical(v.config(res)) {
		return failf("record", "%s is right, and recorded is %v: %s %s; it was made of %s and is %s", res.addr, recorded, entry.Config,
			entry.State, v.config(res), reached)
	}
	i := res.x.instance
	deps := v.declared.predecessors(*i)
	if entry.Type != modeltest.Reference(i.Kind) || entry.Dirty || entry.ReadOnly != i.ReadOnly || entry.PreventDestroy != i.Protect ||
		(entry.OnRemove == "forget") != i.Forget ||
		!slices.Equal(slices.Sorted(slices.Values(entry.Dependencies)), deps) {
		return failf("record", "%s is recorded as %+v, and depends on %v", res.addr, entry, deps)
	}
	return nil
}

// recorded: the state file as a whole goes on from the one before.
func (v *verdict) recorded() error {
	for addr, entry := range v.before.Resources {
		_, planned := v.runs[addr]
		_, known := v.after.Resources[addr]
		if moved := slices.ContainsFunc(v.plan.Moves, func(m moves.Move) bool { return m.From == addr }); !planned && !known && !moved {
			return failf("record", "%s of %s was dropped, and is not in the plan", addr, entry.Type)
		}
	}
	serial := max(v.before.Serial, 0) + 1
	if v.before.Lineage != "" && (v.after.Lineage != v.before.Lineage || v.after.Serial != serial) {
		return failf("record", "lineage and serial were %s %d, and are %s %d", v.before.Lineage, v.before.Serial, v.after.Lineage, v.after.Serial)
	}
	if _, known := v.after.WasApplied(v.plan.ID); !known {
		return failf("record", "it is not remembered that the plan was applied")
	}
	if v.out.crashed {
		return nil
	}
	for _, f := range v.inFlight() {
		last := v.after.Applied[len(v.after.Applied)-1]
		if !slices.ContainsFunc(last.InFlight, func(i state.InFlight) bool { return i.Key == f.key }) {
			return failf("record", "how %s of %s ended is not known, and the state file does not say so", f.action, f.addr)
		}
	}
	return nil
}

// inFlight are the actions that were recorded to have started, and not to have
// ended.
func (v *verdict) inFlight() []fact {
	open := map[string]fact{}
	for _, f := range v.facts {
		switch {
		case f.kind == "started" && f.end > 0:
			open[f.addr] = f
		case f.kind == "ended" && f.end > 0:
			delete(open, f.addr)
		}
	}
	return slices.Collect(maps.Values(open))
}

// outputs: those of an apply that ended well are recorded, others stay.
func (v *verdict) outputs() error {
	if v.out.report.Status != apply.OK {
		if len(v.after.Outputs) != len(v.before.Outputs) {
			return failf("outputs", "they were %v, and are %v", v.before.Outputs, v.after.Outputs)
		}
		return nil
	}
	count := 0
	for i := range v.declared.Resources {
		r := &v.declared.Resources[i]
		if !r.Output || len(r.Keys) > 0 || r.Count > 0 {
			continue
		}
		count++
		var state struct{ V json.RawMessage }
		_ = json.Unmarshal(v.truth(r.block()), &state) // it is an object
		if got := v.after.Outputs["o_"+r.Name]; canonical(got.Value) != canonical(state.V) {
			return failf("outputs", "o_%s is %s, and should be %s", r.Name, got.Value, state.V)
		}
	}
	if count != len(v.after.Outputs) {
		return failf("outputs", "%d are declared, and recorded are %v", count, v.after.Outputs)
	}
	return nil
}
