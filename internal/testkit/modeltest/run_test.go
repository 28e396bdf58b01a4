package modeltest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/apply"
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

// kept is a plan that was saved.
type kept struct {
	file    []byte
	expect  *expectation
	step    Step
	lineage string
	entries map[string]string // what was recorded, by address
}

// life is a history that happens.
type life struct {
	*rig
	saved   *kept
	applied map[string]bool   // the ids of plans
	keys    map[string]string // idempotency keys -> which call had it
	before  state.Snapshot    // the state before the command
	flying  []fact            // what was in flight when the process died
	last    *outcome          // of the last apply
	stats   stats
	done    []string // what was run, in its order
}

// happen lets a history happen, and in the end everything go well. It gives what
// was run; the error says what was not as it must be.
func (r *rig) happen(h History) (stats, []string, error) {
	l := &life{rig: r, applied: map[string]bool{}, keys: map[string]string{}}
	for i := range h.Steps {
		s := h.Steps[i].tidy()
		err := l.do(&s)
		if err == nil && i == len(h.Steps)-1 {
			err = l.settle(s)
		}
		if err != nil {
			var f *failure
			if !errors.As(err, &f) {
				f = &failure{label: "harness", text: err.Error()}
			}
			f.step = i
			return l.stats, l.done, f
		}
	}
	return l.stats, l.done, nil
}

// do carries out one command.
func (l *life) do(s *Step) error {
	s.Parallelism = max(1, s.Parallelism)
	l.tracer.begin(s)
	if err := l.disturb(s.Drift, s.instances()); err != nil {
		return err
	}
	var err error
	switch s.Command {
	case Late:
		err = l.late(s)
	case Look, Save:
		err = l.look(s)
	default:
		err = l.planAndApply(s)
	}
	if err != nil {
		return err
	}
	if len(l.tracer.problems) > 0 {
		label, text, _ := strings.Cut(l.tracer.problems[0], ": ")
		return failf(label, "%s", text)
	}
	return nil
}

// look plans and applies nothing.
func (l *life) look(s *Step) error {
	shared, err := state.ReadShared(context.Background(), l.statePath(), state.Options{Command: "plan"})
	if err != nil {
		return failf("state", "it cannot be read: %v", err)
	}
	defer func() { _ = shared.Close() }()
	l.before = shared.Snapshot
	file, p, e, err := l.plan(s)
	if err != nil || p == nil || s.Command != Save {
		return err
	}
	l.saved = &kept{file: file, expect: e, step: *s, lineage: shared.Snapshot.Lineage, entries: map[string]string{}}
	for addr := range p.Resources {
		l.saved.entries[addr] = entryText(shared.Snapshot, addr)
	}
	for _, m := range p.Moves {
		l.saved.entries[m.From] = entryText(shared.Snapshot, m.From)
	}
	return nil
}

// entryText is an entry but for its time.
func entryText(s state.Snapshot, addr string) string {
	entry, ok := s.Resources[addr]
	if !ok {
		return ""
	}
	deps := slices.Sorted(slices.Values(entry.Dependencies))
	return fmt.Sprintf("%s %s %s %s %v %v %v %v %s", entry.Type, entry.Digest, entry.Config, entry.State, deps, entry.ReadOnly, entry.PreventDestroy, entry.Dirty, entry.OnRemove)
}

// plan plans and compares the plan with what the model says. Without a plan
// and an error there was to be none.
func (l *life) plan(s *Step) ([]byte, *plan.Plan, *expectation, error) {
	e, err := expect(s, l.before, l.things)
	if err != nil {
		return nil, nil, nil, err
	}
	if e.strange != "" {
		l.stats.skipped++
		return nil, nil, nil, nil
	}
	l.stats.plans++
	file, err := l.rig.plan(s, l.before)
	unanswered := unanswered(l.tracer.calls)
	if wanted := len(e.refused) == 0 && unanswered == ""; wanted != (err == nil) {
		return nil, nil, nil, failf("plan", "it gave the error %v; the model refuses because of %v, and %q did not answer", err, e.refused, unanswered)
	}
	if err != nil {
		l.stats.refusals++
		return nil, nil, nil, nil
	}
	p, err := readPlan(file)
	if err != nil {
		return nil, nil, nil, failf("plan file", "%v", err)
	}
	return file, p, e, comparePlan(p, e)
}

// unanswered is a resource whose last state gave no answer.
func unanswered(calls []*call) string {
	last := map[string]*call{}
	for _, c := range calls {
		last[c.In.Name] = c
	}
	for _, addr := range slices.Sorted(maps.Keys(last)) {
		if !last[addr].well() {
			return addr
		}
	}
	return ""
}

// open opens the state, and holds what is recovered to what was recorded.
func (l *life) open() (*state.Store, error) {
	store, err := state.Open(context.Background(), l.statePath(), state.Options{Command: "apply"})
	if err != nil {
		return nil, failf("state", "it cannot be opened: %v", err)
	}
	l.before = store.Snapshot()
	recovery := store.Recovery()
	for _, f := range l.flying {
		if recovery == nil || !slices.ContainsFunc(recovery.InFlight, func(i state.InFlight) bool { return i.Key == f.key }) {
			_ = store.Close()
			return nil, failf("crash", "%s of %s was in flight, and nobody is told", f.action, f.addr)
		}
	}
	l.flying = nil
	return store, nil
}

func (l *life) planAndApply(s *Step) error {
	store, err := l.open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	_, p, e, err := l.plan(s)
	if err != nil || p == nil {
		return err
	}
	return l.applyIt(s, s, p, e, store, false)
}

// late applies the plan that was kept, if it may be.
func (l *life) late(s *Step) error {
	if l.saved == nil {
		l.stats.skipped++
		return nil
	}
	store, err := l.open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	p, err := readPlan(l.saved.file)
	if err != nil {
		return failf("plan file", "%v", err)
	}
	// Nobody keeps two resources from having one thing when a plan comes late.
	for addr, entry := range l.before.Resources {
		for other, x := range l.saved.expect.resources {
			if x.instance != nil && other != addr && x.movedFrom != addr && bytes.Contains(entry.Config, []byte(`"name":"`+x.instance.Thing+`"`)) {
				l.stats.skipped++
				return nil
			}
		}
	}
	isStale := l.applied[p.ID] || l.saved.lineage != l.before.Lineage
	for addr, entry := range l.saved.entries {
		isStale = isStale || entryText(l.before, addr) != entry
	}
	return l.applyIt(s, &l.saved.step, p, l.saved.expect, store, isStale)
}

// applyIt applies a plan that was made for the step declared.
func (l *life) applyIt(s, declared *Step, p *plan.Plan, e *expectation, store *state.Store, isStale bool) error {
	if err := l.disturb(s.Between, declared.instances()); err != nil {
		return err
	}
	planned := len(l.tracer.calls)
	out := l.rig.apply(s, p, store)
	if isStale != (out.refused != nil) {
		return failf("stale", "the model says stale: %v; apply says: %v", isStale, out.refused)
	}
	if out.refused != nil {
		l.stats.stale++
		if len(l.tracer.calls) > planned {
			return failf("stale", "something ran of a plan that was refused")
		}
		return nil
	}
	l.applied[p.ID], l.last = true, &out
	v := &verdict{life: l, step: s, declared: declared, plan: p, expect: e, out: out, calls: l.tracer.calls[planned:], facts: l.tracer.facts, interrupt: l.tracer.interrupt}
	l.stats.applies++
	for _, c := range v.calls {
		l.done = append(l.done, fmt.Sprintf("%s of %s: %d", c.Step, c.In.Name, c.Exit))
	}
	if out.crashed {
		l.stats.crashes++
		l.flying = v.inFlight()
	}
	if err := v.check(); err != nil {
		return err
	}
	if !out.crashed && apply.Check(p, store.Snapshot()) == nil {
		return failf("stale", "a plan that was applied could be applied again")
	}
	return nil
}

// settle lets everything go well: then one apply is enough, and the next plan
// says that nothing is to be done.
func (l *life) settle(s Step) error {
	s.Command, s.Between, s.Faults, s.Drift = Apply, nil, nil, nil
	s.InterruptAt, s.CrashAt, s.IntrudeAt, s.Twice = 0, 0, 0, false
	// What protects or is not to be touched is somebody's who is asked first.
	e, err := expect(&s, l.current(), l.things)
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
	l.last = nil
	if err := l.do(&s); err != nil {
		return err
	}
	if l.last == nil || l.last.report == nil || l.last.report.Status != "ok" {
		return failf("settle", "nothing goes wrong, and the apply is %+v", l.last)
	}
	l.tracer.begin(&s)
	l.before = l.current()
	_, p, _, err := l.plan(&s)
	if err != nil {
		return err
	}
	if p == nil || p.HasChanges() {
		return failf("settle", "the next plan is not empty: %+v", p)
	}
	for addr, step := range p.Resources {
		if step.Change != plan.Valid || step.Drifted || step.Adopted || step.MayChange {
			return failf("settle", "%s is %s", addr, step.Change)
		}
	}
	return nil
}

// current is the state as it is.
func (l *life) current() state.Snapshot {
	s, _, err := state.Load(l.statePath())
	if err != nil {
		l.tracer.problem("state", "it cannot be read: %v", err)
	}
	return s
}
