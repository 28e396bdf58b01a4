package identity

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state/moves"
)

// Facts are what is known of the objects that resources and entries mean. While resources
// are decided, many goroutines may add facts; they have no effect before the next Match.
type Facts struct {
	first  map[string]bool           // resources with create_before_destroy, and their dependencies
	doubts map[string]*reason.Reason // address of a resource whose object a removal may destroy -> why

	mu       sync.Mutex // guards the fields below
	input    match.Input
	triggers map[string]*reason.Reason // address of a resource that replace_triggered_by replaces -> why
	open     map[string]bool           // resources of which something was learned since the last Match
	configs  map[string]*evaluation    // address -> its config as it was matched, until it is decided
}

// evaluation is what a config was evaluated to, and with what.
type evaluation struct {
	manifest *config.Manifest
	known    config.States
	resolved config.Resolved
}

// None returns a Matched without any facts: no resource has an entry of its own yet.
func None() *Matched { return &Matched{Facts: &Facts{}} }

// Gather describes the resources and the entries of the whole manifest and state, or only those of
// the plan with Selection.Apart. Values that come from other resources are the recorded ones.
func Gather(x *query.Session) *Facts {
	s := x.Subject
	f := &Facts{first: order.CreatedFirst(s.Manifest), doubts: map[string]*reason.Reason{}, triggers: map[string]*reason.Reason{},
		open: map[string]bool{}}
	resources := s.Matched()
	f.declare(x, resources)
	f.input.Recorded = make([]match.Recorded, 0, len(s.Prior.Resources))
	for _, addr := range slices.Sorted(maps.Keys(s.Prior.Resources)) {
		at, number := moves.RecordedAt(addr)
		if s.Unmatched(at) || s.PendingAbove(addr) != "" {
			continue
		}
		f.input.Recorded = append(f.input.Recorded, match.Recorded{Key: addr, Address: at, Deposed: number > 0})
	}
	known := schemasOf(x, resources)
	ignoring := slices.ContainsFunc(resources, func(r *config.Resource) bool { return len(r.Ignored) > 0 })
	parallel.For(len(f.input.Recorded), func(from, to int) {
		for i := from; i < to; i++ {
			e := &f.input.Recorded[i]
			entry := s.Prior.Resources[e.Key]
			entry.Mounts = runner.MountsIn(x.Workdir, entry.Mounts)
			entry.Config = x.Prober.WithDefaults(known[entry.Type], entry.Config)
			if e.Thing = objects.Recorded(entry); entry.ReadOnly {
				e.Role = match.ReadOnly
			}
			e.Removed = ignoring && s.RemovedBlock(e.Address) != nil
		}
	})
	return f
}

// schemasOf returns the config schemas of the resources' types, by the references of their images:
// a config that an earlier version recorded has no defaults yet.
func schemasOf(x *query.Session, resources []*config.Resource) map[string]json.RawMessage {
	known := map[string]json.RawMessage{}
	for _, r := range resources {
		if r.Publish == nil {
			known[r.TypeRef] = x.Types.TypeOf(r.Address).ConfigSchema
		}
	}
	return known
}

// declare describes the resources.
func (f *Facts) declare(x *query.Session, resources []*config.Resource) {
	type described struct {
		match.Declared
		*evaluation
		whole bool // the config has neither errors nor warnings
	}
	recorded := observe.Recorded(x.Subject.Prior)
	list := parallel.Map(resources, func(r *config.Resource) described {
		scope := append(subject.Predecessors(r), r.Address)
		e := &evaluation{manifest: x.Subject.Manifest, known: observe.States(scope, func(addr string) observe.View {
			if addr == r.Address {
				return observe.View{Partial: true}
			}
			v := recorded(addr)
			if v.State != nil {
				v.Schema = x.Types.TypeOf(addr).StateSchema
			}
			return v
		}, x.Subject.Prior)}
		var diags diag.Diagnostics
		e.resolved, diags = e.manifest.Config(r.Address, e.known)
		return described{declared(x, r, e.resolved, diags.HasErrors()), e, len(diags) == 0}
	})
	f.input.Declared, f.configs = make([]match.Declared, len(list)), make(map[string]*evaluation, len(list))
	for i, d := range list {
		if f.input.Declared[i] = d.Declared; d.whole {
			f.configs[d.Address] = d.evaluation
		}
	}
}

// Config evaluates the config of a resource that is decided. Where what it uses was found as it is recorded, this was
// done to match the resource.
func (f *Facts) Config(m *config.Manifest, addr string, known config.States) (config.Resolved, diag.Diagnostics) {
	f.mu.Lock()
	was, done := f.configs[addr]
	delete(f.configs, addr)
	f.mu.Unlock()
	if done && was.manifest == m && was.known.Equal(known) {
		return was.resolved, nil
	}
	return m.Config(addr, known)
}

// declared describes a resource by its config, with the recorded states of the resources that it uses.
func declared(x *query.Session, r *config.Resource, resolved config.Resolved, broken bool) match.Declared {
	ty := x.Types.TypeOf(r.Address)
	d := match.Declared{Address: r.Address, Replace: x.Subject.Replaces(r.Address), New: r.New, Ignored: r.Ignored,
		Late: broken || !objects.Known(ty, resolved.Unknown),
		Thing: objects.Declared(x.Prober, r.TypeRef, ty, resolved.Value, r.Settings,
			runner.MountsIn(x.Workdir, x.Types.Mounts(r.Address)))}
	if r.ReadOnly {
		d.Role = match.ReadOnly
	}
	return d
}

// Open reports whether something was learned of a resource, which must be matched again.
func (f *Facts) Open(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[addr]
}

// Settled reports whether nothing was learned since the last Match.
func (f *Facts) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open) == 0
}

// learn notes the object that a resource turns out to mean.
func (f *Facts) learn(addr string, object match.Object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.input.Learn(addr, object)
	f.open[addr] = f.open[addr] || err == nil
	return err
}

// Trigger has a resource replaced because of a change of another one.
func (f *Facts) Trigger(addr string, why *reason.Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.triggers[addr] = why
	f.input.Replace(addr)
	f.open[addr] = true
}

// Triggered returns why replace_triggered_by has a resource replaced; nil = it has not, so far.
func (f *Facts) Triggered(addr string) *reason.Reason {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.triggers[addr]
}

// Asked returns what requests the replacement of a resource whose identity stays the same.
func (f *Facts) Asked(addr string) *reason.Reason {
	return cmp.Or(f.Triggered(addr), reason.New(reason.Asked))
}

// Withdraw withdraws the guess about a resource, which nothing can confirm.
func (f *Facts) Withdraw(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[addr] = true
	f.input.Withdraw(addr)
}

// Refute withdraws the guess about a resource, which is wrong, with all about its image.
func (f *Facts) Refute(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[addr] = true
	f.input.Refute(addr)
}

// First reports whether a resource is created before what it replaces is destroyed.
func (f *Facts) First(addr string) bool { return f.first[addr] }

// Doubts returns why a removal of the plan may destroy the object of a resource; nil = none does.
func (f *Facts) Doubts(addr string) *reason.Reason { return f.doubts[addr] }

// Declared are the resources as they were matched.
func (f *Facts) Declared() []match.Declared { return f.input.Declared }

// Recorded are the entries as they were matched.
func (f *Facts) Recorded() []match.Recorded { return f.input.Recorded }
