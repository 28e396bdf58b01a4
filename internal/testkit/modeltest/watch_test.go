package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/repairs"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/testkit/modeltest"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/repair"
	"deployster/protocol"
	"deployster/state"
)

// Watch is a watch that looks at all that is recorded, and repairs what drifted until
// nothing is left that it may repair. What is declared is not applied: people edit.
// With KeepGoing it is started again when it was killed, interrupted or something
// failed, and nothing goes wrong then; without, people meet what it has left.
const Watch Command = "watch"

// TestModel_RandomWatches runs random scenarios in which a watch repairs between what
// people declare, apply and save, and while things drift.
func TestModel_RandomWatches(t *testing.T) {
	t.Parallel()
	const enough = enough / 2 // one of these costs 1.6 times one of the others
	count, first := number(t, countVariable, enough), number(t, seedVariable, 1)
	total, failed := runMany(t, uint64(first), count, drawWatches, func(int, uint64) {})
	if failed != nil {
		report(t, *failed)
		return
	}
	t.Logf("%d scenarios: %s; %s", count, total, total.watch)
	if w := total.watch; count >= enough && (w.crashes == 0 || w.interrupts == 0 || w.failed == 0 || w.refused == 0 || w.elsewhere == 0 ||
		w.righted < count) {
		t.Errorf("the watches are too dull: %s", w)
	}
}

// drawWatches draws a scenario with watches between the commands of people.
func drawWatches(seed uint64) Scenario {
	sc, d := draw(seed), &drawer{Rand: rand.New(rand.NewPCG(seed, 1))}
	var steps []Step
	for i := range sc.Steps {
		if steps = append(steps, sc.Steps[i]); d.chance(4) {
			continue
		}
		// What is declared then is what people have applied, or what they have edited since.
		s := Step{Command: Watch, Resources: sc.Steps[i].Resources, Moves: sc.Steps[i].Moves, Removed: sc.Steps[i].Removed, Parallelism: 4}
		if next := i + 1; next < len(sc.Steps) && d.chance(3) {
			s.Resources, s.Moves, s.Removed = sc.Steps[next].Resources, sc.Steps[next].Moves, sc.Steps[next].Removed
		}
		d.declared = s.Resources
		things := d.things()
		for range d.IntN(5) {
			s.Drift = append(s.Drift, Drift{Thing: things[d.IntN(len(things))], How: d.drift()})
		}
		for range d.IntN(5) / 3 {
			s.Between = append(s.Between, Drift{Thing: things[d.IntN(len(things))], How: d.drift()})
		}
		for range d.IntN(6) / 3 {
			s.Faults = append(s.Faults, d.fault(things))
		}
		for i := range s.Drift {
			s.Drift[i].How = s.harmless(s.Drift[i])
		}
		for i := range s.Between {
			s.Between[i].How = s.harmless(s.Between[i])
		}
		if d.moment(&s); d.chance(3) {
			s.CrashAt, s.InterruptAt = 1+d.IntN(12), 0
		}
		s.KeepGoing = !d.chance(3)
		steps = append(steps, s)
	}
	sc.Steps = steps
	return sc
}

// harmless is what is done to a thing, without putting a secret into it of which what is
// recorded does not know.
func (s *Step) harmless(d Drift) How {
	if d.How == Restore && slices.ContainsFunc(s.instances(), func(i instance) bool { return i.Thing == d.Thing && i.Secret }) {
		return Vanish
	}
	return d.How
}

// watchStats count what watches did.
type watchStats struct{ righted, failed, refused, crashes, interrupts, elsewhere, quiet int }

func (s watchStats) String() string {
	return fmt.Sprintf("%d actions of watches (%d failed), %d times nobody had approved, %d crashed, %d interrupted, %d met a state of others, %d quiet",
		s.righted, s.failed, s.refused, s.crashes, s.interrupts, s.elsewhere, s.quiet)
}

// watcher is the process of one watch.
type watcher struct {
	*execution
	step    *Step
	engine  repairs.Keeper
	close   func()
	source  *repairs.Source
	prior   state.Snapshot
	looker  *drift.Checker
	refused map[string]string // a finding that was not approved since something was last right again, by address
	wrong   map[string]string // what the last look found
}

// tracedRuntime is the runtime of an engine whose runs the tracer sees.
type tracedRuntime struct {
	runnertest.Runtime
	t *tracer
}

func (r tracedRuntime) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	return r.t.Run(ctx, s)
}

// watch lets a watch live, and holds what it did to what was recorded before.
func (ex *execution) watch(s *Step) error {
	before, recovery, err := state.Load(state.File(ex.statePath()))
	if err != nil {
		return failf("state", "it cannot be read: %v", err)
	}
	ex.before = before
	e := &expectation{resources: map[string]*expected{}}
	e.move(s, ex.before)
	if e.strange = e.twice(s); e.strange != "" || ex.fake == nil {
		ex.stats.skipped++
		return nil
	}
	for _, f := range ex.inFlight {
		if recovery == nil || !slices.ContainsFunc(recovery.InFlight, func(i state.InFlight) bool { return i.Key == f.key }) {
			return failf("crash", "%s of %s was in flight, and nobody is told", f.action, f.addr)
		}
	}
	ex.inFlight = nil
	if err := ex.declare(s); err != nil {
		return err
	}
	troubled, err := ex.lives(s)
	if err != nil || troubled && !s.KeepGoing {
		return err
	}
	if calm := *s; troubled {
		calm.Faults, calm.Between, calm.InterruptAt, calm.CrashAt, calm.Twice = nil, nil, 0, 0, false
		ex.tracer.begin(&calm)
		if troubled, err = ex.lives(&calm); err != nil {
			return err
		}
	}
	if troubled {
		return failf("watch", "nothing goes wrong any more, and it does not come to rest")
	}
	ex.stats.watch.quiet++
	return ex.atRest(s, len(e.moves) > 0)
}

// lives runs one process until it has nothing to do, or something goes wrong.
func (ex *execution) lives(s *Step) (troubled bool, err error) {
	w, err := ex.starts(s)
	if err != nil {
		return false, failf("watch", "it does not start: %v", err)
	}
	defer w.close()
	defer func() { ex.tracer.told = ex.wasTold }()
	for range 6 {
		wrong, unasked := w.look()
		if len(wrong) == 0 {
			return unasked, nil
		}
		if err := ex.disturb(s.Between, s.instances()); err != nil {
			return false, err
		}
		s.Between = nil
		crashed, err := w.repair(wrong)
		if ex.last = nil; err != nil || crashed || ex.tracer.interrupt > 0 {
			return true, err
		}
	}
	return true, nil
}

// starts starts one, which reads what is declared and recorded.
func (ex *execution) starts(s *Step) (*watcher, error) {
	t := ex.tracer
	t.mu.Lock()
	t.abort = make(chan struct{})
	t.mu.Unlock()
	e := app.New(app.Options{Workspace: workspace.Options{Dir: ex.dir, Home: ex.dir, Version: "0.1.0", State: ex.statePath()}, Abort: t.abort,
		Open: func(context.Context) (app.Runtime, error) {
			return tracedRuntime{runnertest.Runtime{Fake: ex.fake}, t}, nil
		}})
	m, err := e.Machine(context.Background())
	if err != nil {
		return nil, err
	}
	w := &watcher{execution: ex, step: s, engine: repairs.Keeper{Command: e.Command(), Machine: m}, close: e.Close, refused: map[string]string{}}
	t.told = func(text string) bool { return ex.wasTold(text) || e.Workspace.Secrets.Hide(text) != text }
	if w.source, w.prior, err = w.engine.Source(context.Background(), repairs.SourceOptions{}); err != nil {
		e.Close()
		return nil, err
	}
	if err = w.see(); err == nil {
		err = w.late()
	}
	if ex.known = w; err != nil {
		e.Close()
	}
	return w, err
}

// see makes what looks, for the state as it is known.
func (w *watcher) see() (err error) {
	w.looker, _, err = w.engine.Checker(context.Background(), w.source, w.prior)
	return err
}

// late lets the watch before this one repair what it knew, as if it had been slow: when
// somebody has changed the state since, nothing is done.
func (w *watcher) late() error {
	slow := w.known
	if slow == nil || slow.prior.Serial == w.prior.Serial || len(slow.looker.Resources) == 0 {
		return nil
	}
	w.stats.watch.elsewhere++
	began := len(w.tracer.calls)
	var all []string
	for _, r := range slow.looker.Resources {
		all = append(all, r.Address)
	}
	_, err := w.engine.Repair(context.Background(), repairs.RepairOptions{Source: slow.source, Prior: slow.prior, Addresses: all, Kinds: []plan.Change{repair.Kind},
		Checker: slow.looker, Ended: func() {}})
	if !errors.Is(err, repairs.ErrElsewhere) || len(w.tracer.calls) > began {
		return failf("watch", "another has changed the state, and it was repaired by what was known before: %v, %d calls", err,
			len(w.tracer.calls)-began)
	}
	return nil
}

// look asks all that is watched, and gives what is to be repaired; unasked: something
// could not be asked.
func (w *watcher) look() (wrong map[string]string, unasked bool) {
	found := map[string]string{}
	for _, r := range w.looker.Resources {
		if w.looker.Changed(r) != "" || r.ReadOnly {
			continue
		}
		look := w.looker.Check(context.Background(), r)
		switch {
		case look.Status == drift.Failed:
			unasked = true
		case look.Drifts() || look.Status == drift.None && len(look.Found) > 0:
			found[r.Address] = fmt.Sprintf("%s %s", look.Status, look.Found)
		}
	}
	for addr := range w.wrong {
		if _, still := found[addr]; !still {
			clear(w.refused)
		}
	}
	w.wrong, wrong = found, maps.Clone(found)
	maps.DeleteFunc(wrong, func(addr, text string) bool { return w.refused[addr] == text })
	return wrong, unasked
}

// repair repairs, and holds that to what may be done alone.
func (w *watcher) repair(wrong map[string]string) (crashed bool, err error) {
	t, began := w.tracer, len(w.tracer.calls)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var left map[string][]byte
	t.mu.Lock()
	t.applying, t.cancel, t.intrude = true, cancel, w.intrude
	t.died = func() { left = w.files() }
	t.mu.Unlock()
	done, err := w.engine.Repair(ctx, repairs.RepairOptions{Source: w.source, Prior: w.prior, Addresses: slices.Sorted(maps.Keys(wrong)),
		Kinds: []plan.Change{repair.Kind}, Checker: w.looker, Ended: func() {}})
	t.mu.Lock()
	t.applying, t.died, crashed = false, nil, t.dead
	calls := t.calls[began:]
	t.mu.Unlock()
	if err := w.approved(calls); err != nil {
		return crashed, err
	}
	if crashed {
		w.stats.watch.crashes++
		w.inFlight = cutShort(calls)
		return true, w.leave(left)
	}
	if t.interrupt > 0 {
		w.stats.watch.interrupts++
	}
	if err == nil && done.Report == nil {
		err = done.Broken
	}
	if err != nil {
		if len(w.step.Faults) == 0 { // what they depend on cannot be planned; else atRest sees it
			maps.Copy(w.refused, wrong)
		}
		return false, nil // it is tried again
	}
	if w.stats.watch.refused += len(done.Refused); done.Report == nil {
		maps.Copy(w.refused, wrong)
	}
	for addr := range done.Refused {
		w.refused[addr] = wrong[addr]
	}
	for _, i := range w.step.instances() {
		if i.ReadOnly && done.Report != nil && done.Report.Resources[i.Address] != nil && done.Report.Resources[i.Address].Status == apply.Error {
			maps.Copy(w.refused, wrong) // what depends on a thing of somebody else waits until that is right
		}
	}
	w.prior = done.Snapshot
	return false, w.see()
}

// aliases are those that the manifest gives to the dependencies of an instance.
func (s *Step) aliases(i instance) map[string]string {
	var list map[string]string
	for n, u := range i.Uses {
		if u.Alias {
			if list == nil {
				list = map[string]string{}
			}
			list[fmt.Sprintf("d%d", n)] = strings.TrimPrefix(strings.TrimSuffix(s.reference(u), ".state."+u.attribute()), "resource.")
		}
	}
	return list
}

// approved: only what was recorded is brought back, of the same image with the same
// config, and it was asked right before.
func (w *watcher) approved(calls []*call) error {
	declared, last := map[string]*Resource{}, map[string]*call{}
	for _, i := range w.step.instances() {
		declared[i.Address] = i.Resource
	}
	for _, c := range calls {
		addr := c.In.Name
		before := last[addr]
		last[addr] = c
		if !c.Action {
			continue
		}
		if w.stats.watch.righted++; !c.well() {
			w.stats.watch.failed++
		}
		entry, known := w.before.Resources[addr]
		switch r := declared[addr]; {
		case r == nil || !known || onlyBegun(entry):
			return failf("approved", "%s of %s, which was not applied", c.Step, addr)
		case r.ReadOnly:
			return failf("approved", "%s of %s, which is read_only", c.Step, addr)
		case c.In.Intent == protocol.Absent, c.In.Type != entry.Type, canonical(c.In.Config) != canonical(entry.Config),
			c.In.Kind() != modeltest.Hand && c.Digest != entry.Digest:
			return failf("approved", "%s of %s with %s; recorded is %s with %s", c.Step, addr, c.In.Config, entry.Type, entry.Config)
		case before == nil || !before.well():
			return failf("approved", "%s of %s, which had not answered right before", c.Step, addr)
		}
		if who, twice := w.keys[c.Key]; twice || c.Key == "" {
			return failf("approved", "%s of %s has the idempotency key %q of %s", c.Step, addr, c.Key, who)
		}
		w.keys[c.Key] = c.Step + " of " + addr
	}
	return nil
}

// cutShort are the actions that ran when the process died.
func cutShort(calls []*call) (list []fact) {
	for _, c := range calls {
		if c.Action && c.Begin > 0 && errors.Is(c.Err, errDead) {
			list = append(list, fact{addr: c.In.Name, action: c.Step, key: c.Key})
		}
	}
	return list
}

// atRest: all that was approved is as declared and so recorded, and nothing is lost.
func (ex *execution) atRest(s *Step, moving bool) error {
	after := ex.current()
	for addr, was := range ex.before.Resources {
		is, known := after.Resources[addr]
		if !known || is.Type != was.Type || is.Digest != was.Digest || canonical(is.Config) != canonical(was.Config) {
			return failf("kept", "%s was recorded as %s %s, and is as %s %s", addr, was.Type, was.Config, is.Type, is.Config)
		}
	}
	if len(after.Resources) > len(ex.before.Resources) || after.Lineage != ex.before.Lineage || after.Serial < ex.before.Serial {
		return failf("kept", "%d entries were recorded, and %d are", len(ex.before.Resources), len(after.Resources))
	}
	if moving {
		return nil
	}
	known, covered := func(addr string) json.RawMessage { return after.Resources[addr].State }, map[string]bool{}
	for _, i := range s.instances() {
		entry, recorded := ex.before.Resources[i.Address]
		if !recorded || onlyBegun(entry) || entry.Type != modeltest.Reference(i.Kind) || i.ReadOnly ||
			slices.ContainsFunc(s.predecessors(i), func(addr string) bool { return !covered[addr] }) {
			continue
		}
		config := s.config(i, &entry, known)
		if config == nil || canonical(config) != canonical(entry.Config) || !maps.Equal(s.aliases(i), entry.Aliases) {
			continue
		}
		covered[i.Address] = true
		thing, err := ex.things.Load(i.Thing)
		if err != nil {
			return err
		}
		answer := modeltest.Look(s.input(i, config, known), thing)
		if answer.Status != protocol.Valid {
			return failf("repaired", "%s is %s, and was approved: %s", i.Address, answer.Status, entry.Config)
		}
		if canonical(after.Resources[i.Address].State) != canonical(answer.State) {
			return failf("repaired", "%s is %s, and recorded is %s", i.Address, answer.State, after.Resources[i.Address].State)
		}
	}
	return nil
}

// declare writes the manifests of a step as files.
func (ex *execution) declare(s *Step) error {
	old, err := filepath.Glob(filepath.Join(ex.dir, "m_*"))
	for _, dir := range old {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	root, modules := s.source()
	err = errors.Join(err, os.WriteFile(filepath.Join(ex.dir, "main.hcl"), []byte(root), 0o600))
	for dir, text := range modules {
		err = errors.Join(err, os.MkdirAll(filepath.Join(ex.dir, dir), 0o700),
			os.WriteFile(filepath.Join(ex.dir, dir, "main.hcl"), []byte(text), 0o600))
	}
	return err
}

// files are the state and its journal.
func (ex *execution) files() map[string][]byte {
	found := map[string][]byte{}
	for _, path := range []string{ex.statePath(), ex.tracer.journal} {
		if content, err := os.ReadFile(path); err == nil {
			found[path] = content
		}
	}
	return found
}

// leave puts back what was there when the process died.
func (ex *execution) leave(files map[string][]byte) error {
	var err error
	for _, path := range []string{ex.statePath(), ex.tracer.journal} {
		content, there := files[path]
		if !there {
			if failed := os.Remove(path); !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
			continue
		}
		err = errors.Join(err, os.WriteFile(path, content, 0o600))
	}
	return err
}
