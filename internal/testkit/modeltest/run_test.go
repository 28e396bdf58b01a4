package modeltest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/apply/fresh"
	"deployster/plan"
	"deployster/state"
)

// failure says what was not as it must be. The label is the rule.
type failure struct {
	label, text string
	step        int
}

func (f *failure) Error() string { return fmt.Sprintf("step %d: %s: %s", f.step+1, f.label, f.text) }

func failf(label, format string, args ...any) error {
	return &failure{label: label, text: fmt.Sprintf(format, args...)}
}

// savedPlan is a plan that was saved.
type savedPlan struct {
	file    []byte
	expect  *expectation
	step    Step
	lineage string
	entries map[string]string // what was recorded, by address
}

// execution is a scenario that is run.
type execution struct {
	*rig
	saved    *savedPlan
	applied  map[string]bool   // the ids of plans
	keys     map[string]string // idempotency keys -> which call had it
	before   state.Snapshot    // the state before the command
	inFlight []fact            // what was in flight when the process died
	last     *outcome          // of the last apply
	known    *watcher          // the last watch
	stats    stats
	done     []string // what was run, in its order
}

// execute runs a scenario, and a last apply in which everything goes well. It returns
// what was run; the error says what was not as it must be.
func (r *rig) execute(sc Scenario) (stats, []string, error) {
	ex := &execution{rig: r, applied: map[string]bool{}, keys: map[string]string{}}
	for i := range sc.Steps {
		s := sc.Steps[i].tidy()
		err := ex.do(&s)
		if err == nil && i == len(sc.Steps)-1 {
			err = ex.converge(s)
		}
		if err != nil {
			var f *failure
			if !errors.As(err, &f) {
				f = &failure{label: "harness", text: err.Error()}
			}
			f.step = i
			return ex.stats, ex.done, f
		}
	}
	return ex.stats, ex.done, nil
}

// do carries out one command.
func (ex *execution) do(s *Step) error {
	s.Parallelism = max(1, s.Parallelism)
	ex.tracer.begin(s)
	if err := ex.disturb(s.Drift, s.instances()); err != nil {
		return err
	}
	var err error
	switch s.Command {
	case Late:
		err = ex.late(s)
	case Watch:
		err = ex.watch(s)
	case Look, Save:
		err = ex.look(s)
	default:
		err = ex.planAndApply(s)
	}
	if err != nil {
		return err
	}
	if len(ex.tracer.problems) > 0 {
		label, text, _ := strings.Cut(ex.tracer.problems[0], ": ")
		return failf(label, "%s", text)
	}
	return nil
}

// look plans and applies nothing.
func (ex *execution) look(s *Step) error {
	shared, err := state.ReadShared(context.Background(), state.File(ex.statePath()), state.Options{Command: "plan"})
	if err != nil {
		return failf("state", "it cannot be read: %v", err)
	}
	defer func() { _ = shared.Close() }()
	ex.before = shared.Snapshot
	file, p, e, err := ex.plan(s)
	if err != nil || p == nil || s.Command != Save {
		return err
	}
	ex.saved = &savedPlan{file: file, expect: e, step: *s, lineage: shared.Snapshot.Lineage, entries: map[string]string{}}
	for addr := range p.Resources {
		ex.saved.entries[addr] = entryText(shared.Snapshot, addr)
	}
	for _, m := range p.Moves {
		ex.saved.entries[m.From] = entryText(shared.Snapshot, m.From)
	}
	return nil
}

// entryText is an entry, with who acted on it and when it was found VALID: one that was
// recorded anew is not what the plan was made with.
func entryText(s state.Snapshot, addr string) string {
	entry, ok := s.Resources[addr]
	if !ok {
		return ""
	}
	deps := slices.Sorted(slices.Values(entry.Dependencies))
	return fmt.Sprintf("%s %s %s %s %v %v %v %v %s %d %d", entry.Type, entry.Digest, entry.Config, entry.State, deps, entry.ReadOnly,
		entry.PreventDestroy, entry.Dirty, entry.OnRemove, entry.Acted, entry.ValidAt.UnixNano())
}

// plan plans and compares the plan with what the model says. Without a plan
// and an error there was to be none.
func (ex *execution) plan(s *Step) ([]byte, *plan.Plan, *expectation, error) {
	e, err := expect(s, ex.before, ex.things, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	if e.strange != "" {
		ex.stats.skipped++
		return nil, nil, nil, nil
	}
	ex.stats.plans++
	file, failed := ex.rig.plan(s, ex.before)
	mute := mute(ex.tracer.calls)
	if e, err = expect(s, ex.before, ex.things, mute); err != nil {
		return nil, nil, nil, err
	}
	unanswered := e.unanswered(mute)
	for _, x := range e.resources {
		if x.early {
			ex.stats.early++
		}
		if x.mute {
			ex.stats.mute++
		}
	}
	if wanted := len(e.refused) == 0 && unanswered == ""; wanted != (failed == nil) {
		return nil, nil, nil, failf("plan", "it gave the error %v; the model refuses because of %v, and %q did not answer", failed, e.refused,
			unanswered)
	}
	if failed != nil {
		ex.stats.refusals++
		return nil, nil, nil, nil
	}
	p, err := readPlan(file)
	if err != nil {
		return nil, nil, nil, failf("plan file", "%v", err)
	}
	return file, p, e, comparePlan(p, e)
}

// mute are the resources whose last state gave no answer.
func mute(calls []*call) map[string]bool {
	last, mute := map[string]*call{}, map[string]bool{}
	for _, c := range calls {
		last[c.In.Name] = c
	}
	for addr, c := range last {
		mute[addr] = !c.well()
	}
	return mute
}

// unanswered is a resource that gave no answer, other than to an early query.
func (e *expectation) unanswered(mute map[string]bool) string {
	for _, addr := range slices.Sorted(maps.Keys(mute)) {
		x := e.resources[addr]
		if mute[addr] && (x == nil || !x.mute) {
			return addr
		}
	}
	return ""
}

// open opens the state, and holds what is recovered to what was recorded.
func (ex *execution) open() (*state.Store, error) {
	store, err := state.Open(context.Background(), state.File(ex.statePath()), state.Options{Command: "apply"})
	if err != nil {
		return nil, failf("state", "it cannot be opened: %v", err)
	}
	ex.before = store.Snapshot()
	recovery := store.Recovery()
	for _, f := range ex.inFlight {
		if recovery == nil || !slices.ContainsFunc(recovery.InFlight, func(i state.InFlight) bool { return i.Key == f.key }) {
			_ = store.Close()
			return nil, failf("crash", "%s of %s was in flight, and nobody is told", f.action, f.addr)
		}
	}
	ex.inFlight = nil
	return store, nil
}

func (ex *execution) planAndApply(s *Step) error {
	store, err := ex.open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	_, p, e, err := ex.plan(s)
	if err != nil || p == nil {
		return err
	}
	return ex.applyIt(s, s, p, e, store, false)
}

// late applies the plan that was kept, if it may be.
func (ex *execution) late(s *Step) error {
	if ex.saved == nil {
		ex.stats.skipped++
		return nil
	}
	store, err := ex.open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	p, err := readPlan(ex.saved.file)
	if err != nil {
		return failf("plan file", "%v", err)
	}
	if _, died := ex.before.Died(p.ID); died { // it is continued, as the tests of apply hold
		ex.stats.skipped++
		return nil
	}
	// Nobody keeps two resources from having one thing when a plan comes late.
	for addr, entry := range ex.before.Resources {
		for other, x := range ex.saved.expect.resources {
			if x.instance != nil && other != addr && x.movedFrom != addr && bytes.Contains(entry.Config, []byte(`"name":"`+x.instance.Thing+`"`)) {
				ex.stats.skipped++
				return nil
			}
		}
	}
	isStale := ex.applied[p.ID] || ex.saved.lineage != ex.before.Lineage
	for addr, entry := range ex.saved.entries {
		isStale = isStale || entryText(ex.before, addr) != entry
	}
	return ex.applyIt(s, &ex.saved.step, p, ex.saved.expect, store, isStale)
}

// applyIt applies a plan that was made for the step declared.
func (ex *execution) applyIt(s, declared *Step, p *plan.Plan, e *expectation, store *state.Store, isStale bool) error {
	if err := ex.disturb(s.Between, declared.instances()); err != nil {
		return err
	}
	planned := len(ex.tracer.calls)
	out := ex.rig.apply(s, p, store)
	if isStale != (out.refused != nil) {
		return failf("stale", "the model says stale: %v; apply says: %v", isStale, out.refused)
	}
	if out.refused != nil {
		ex.stats.stale++
		if len(ex.tracer.calls) > planned {
			return failf("stale", "something ran of a plan that was refused")
		}
		return nil
	}
	ex.applied[p.ID], ex.last = true, &out
	v := &verdict{execution: ex, step: s, declared: declared, plan: p, expect: e, out: out, calls: ex.tracer.calls[planned:],
		facts: ex.tracer.facts, interrupt: ex.tracer.interrupt}
	ex.stats.applies++
	for _, c := range v.calls {
		ex.done = append(ex.done, fmt.Sprintf("%s of %s: %d", c.Step, c.In.Name, c.Exit))
	}
	if out.crashed {
		ex.stats.crashes++
		ex.inFlight = v.inFlight()
	}
	if err := v.check(); err != nil {
		return err
	}
	if !out.crashed && fresh.Check(p, store.Snapshot()) == nil {
		return failf("stale", "a plan that was applied could be applied again")
	}
	return nil
}

// converge lets everything go well: then one apply is enough, and the next plan
// says that nothing to do.
func (ex *execution) converge(s Step) error {
	s.Command, s.Between, s.Faults, s.Drift = Apply, nil, nil, nil
	s.InterruptAt, s.CrashAt, s.IntrudeAt, s.Twice = 0, 0, 0, false
	// What protects or is not to be touched is somebody's who is asked first.
	e, err := expect(&s, ex.current(), ex.things, nil)
	if err != nil || e.strange != "" {
		return err
	}
	for i := range s.Resources {
		s.Resources[i].ReadOnly = false
	}
	for addr, x := range e.resources {
		if x.instance == nil && x.entry.PreventDestroy {
			if s.find(strings.SplitN(addr, "[", 2)[0]) != nil {
				return nil // other instances of it are declared: nothing lets go of this one alone
			}
			s.Removed = slices.DeleteFunc(slices.Clone(s.Removed), func(r Removed) bool { return r.From == addr })
			s.Removed = append(s.Removed, Removed{From: addr})
		}
	}
	ex.last = nil
	if err := ex.do(&s); err != nil {
		return err
	}
	if ex.last == nil || ex.last.report == nil || ex.last.report.Status != "ok" {
		return failf("converge", "nothing goes wrong, and the apply is %+v", ex.last)
	}
	ex.tracer.begin(&s)
	ex.before = ex.current()
	_, p, _, err := ex.plan(&s)
	if err != nil {
		return err
	}
	if p == nil || p.HasChanges() {
		return failf("converge", "the next plan is not empty: %+v", p)
	}
	for addr, step := range p.Resources {
		if step.Change() != plan.Valid || step.Drifted() || step.Adopted() || step.Certainty == plan.MayChange {
			return failf("converge", "%s is %s", addr, step.Change())
		}
	}
	return nil
}

// current is the state as it is.
func (ex *execution) current() state.Snapshot {
	s, _, err := state.Load(state.File(ex.statePath()))
	if err != nil {
		ex.tracer.problem("state", "it cannot be read: %v", err)
	}
	return s
}
