package plan

import (
	"context"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
	"deployster/plan/match"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/plan/things"
	"deployster/protocol"
	"deployster/state/moves"
)

// identified says which recorded thing each resource means.
type identified struct {
	input  match.Input
	result match.Result
	moves  []moves.Move
	doubts map[string]*reason.Reason // address of a resource whose thing the ends may destroy -> why
	ends   map[string]match.End      // by present address
	open   map[string]bool           // resources about which something was learned: they are matched again

	first   map[string]bool   // resources with create_before_destroy, and their dependencies
	deposed map[string]string // address of a replaced resource -> key of the entry that is removed later
}

// decideIdentified decides about all resources, each with the entry of its own thing. The
// identity of a resource may become known only when it is decided: then matching starts
// again, and earlier decisions are kept where they still hold.
func (b *builder) decideIdentified(ctx context.Context) {
	b.identified.input, b.identified.doubts = b.matchInput(), map[string]*reason.Reason{}
	for {
		errors := b.Errors()
		if b.identify(); b.Errors() > errors {
			return
		}
		if b.Ask(ctx, b.Wanted); b.Errors() > errors {
			return
		}
		b.identified.open = map[string]bool{}
		if b.decideAll(ctx, b.Wanted); ctx.Err() != nil {
			return
		}
		if len(b.identified.open) > 0 {
			continue
		}
		if b.removeAll(ctx); ctx.Err() != nil || !b.doubt() {
			return
		}
	}
}

// matchInput describes the resources and the entries of the whole manifest and state, or only those of
// the plan with Selection.Apart. Values that come from other resources are the recorded ones.
func (b *builder) matchInput() (in match.Input) {
	b.identified.first = order.First(b.Manifest)
	views, resources := observe.Recorded(b.Prior), b.Matched()
	in.Declared = parallel.Map(resources, func(r *config.Resource) match.Declared { return declared(b, r, views) })
	in.Recorded = make([]match.Recorded, 0, len(b.Prior.Resources))
	for _, addr := range slices.Sorted(maps.Keys(b.Prior.Resources)) {
		at, number := moves.RecordedAt(addr)
		if b.Aside(at) || b.PendingAbove(addr) != "" {
			continue
		}
		in.Recorded = append(in.Recorded, match.Recorded{Key: addr, Address: at, Deposed: number > 0})
	}
	ignoring := slices.ContainsFunc(resources, func(r *config.Resource) bool { return len(r.Ignored) > 0 })
	parallel.For(len(in.Recorded), func(from, to int) {
		for i := from; i < to; i++ {
			e := &in.Recorded[i]
			entry := b.Prior.Resources[e.Key]
			entry.Mounts = runner.MountsIn(b.session.Workdir, entry.Mounts)
			if e.Thing = things.Recorded(entry); entry.ReadOnly {
				e.Role = match.ReadOnly
			}
			e.Leaves = ignoring && b.RemovedBlock(e.Address) != nil
		}
	})
	return in
}

// declared describes a resource, with the recorded states of the resources that it uses.
func declared(b *builder, r *config.Resource, views func(addr string) observe.View) match.Declared {
	ty := b.TypeOf(r.Address)
	resolved, diags := b.Manifest.Config(r.Address, b.scope(r.Address, subject.Predecessors(r), views))
	d := match.Declared{Address: r.Address, Replace: b.Replaces(r.Address), New: r.New, Ignored: r.Ignored,
		Late: diags.HasErrors() || !things.Known(ty, resolved.Unknown),
		Thing: things.Declared(b.session.Prober, r.TypeRef, ty, resolved.Value, r.Settings,
			runner.MountsIn(b.session.Workdir, b.Types.Mounts(r.Address)))}
	if r.ReadOnly {
		d.Role = match.ReadOnly
	}
	return d
}

// identify matches resources with entries, and gives the entries the addresses that follow.
// For a resource that has another entry than before, it undoes what was decided about the
// resource and about all that depends on it.
func (b *builder) identify() {
	result := match.Match(b.identified.input)
	errors := b.Errors()
	if b.twice(result.Twice); b.Errors() > errors {
		return
	}
	was, ended := b.identified.result, b.identified.ends
	b.identified.result, b.identified.ends, b.identified.deposed = result, map[string]match.End{}, map[string]string{}
	var made []moves.Move
	var changed []string
	taken := map[string]match.Role{}
	for _, e := range b.identified.input.Recorded {
		taken[e.Key] = e.Role
	}
	for _, p := range result.Pairs {
		if move, later := b.depose(p, taken); later {
			made = append(made, move)
		} else if p.Moved() {
			made = append(made, moves.Move{From: p.Recorded, To: p.Address, Why: string(p.Why)})
		}
		before := was.Pair(p.Address)
		matched := before.Address != ""
		if matched && before.Same(p) || !matched && !p.Moved() && !p.Replaced {
			continue
		}
		changed = append(changed, p.Address)
		delete(b.failed, p.Address)
	}
	undecide(b, changed)
	for _, e := range result.Ends {
		addr := e.Recorded
		if _, number := moves.RecordedAt(addr); e.Deposed && number == 0 {
			addr = depose(e.Address, taken)
			made = append(made, moves.Move{From: e.Recorded, To: addr, Why: string(match.Other)})
		}
		b.identified.ends[addr] = e
	}
	b.identified.moves = made
	b.Report(nil, "", append(b.Identify(made), b.CheckReplaced()...))
	for addr, end := range ended {
		if b.identified.ends[addr] != end {
			delete(b.steps, addr)
		}
	}
	for addr := range b.steps {
		if !b.Wanted(addr) { // an earlier guess had included it
			delete(b.steps, addr)
		}
	}
}

// twice reports the things that two blocks declare.
func (b *builder) twice(list []match.Twice) {
	places := map[string]*config.Resource{}
	for _, r := range b.Manifest.Resources() {
		places[r.Address] = r
	}
	for _, t := range list {
		first, second := places[t.First], places[t.Second]
		if !b.Wanted(t.First) && !b.Wanted(t.Second) {
			continue
		}
		b.failed[t.Second] = true
		b.Report(second, "", diag.Diagnostics{diag.Errorf("Duplicate object", "%s and %s (%s) have the same identity (%s), so each "+
			"would change the object of the other. Give one of them another identity, or remove it.", config.Reference(t.Second),
			config.Reference(t.First), first.Range, strings.Join(b.TypeOf(t.Second).Identity, ", "))})
	}
}

// learn compares the identity of a resource, as it is when the resource is decided, with the
// one that it was matched with. It reports whether they are equal; else matching starts again.
func (b *builder) learn(r *config.Resource, s *Step) bool {
	if b.identified.result.Pairs == nil || len(s.Init.Identity) == 0 || !things.Known(s.Init, s.Unknown) {
		return true
	}
	now := things.Declared(b.session.Prober, r.TypeRef, s.Init, s.Config, s.Settings, runner.MountsIn(b.session.Workdir, s.Mounts))
	b.decided.mu.Lock()
	defer b.decided.mu.Unlock()
	if b.identified.result.Means(r.Address, now) {
		return true
	}
	if err := b.identified.input.Learn(r.Address, now); err != nil {
		b.Report(r, "", diag.From("Identity that is never the same", err))
		return false
	}
	b.identified.open[r.Address] = true
	return false
}

// withdraw withdraws the guess about a resource, and with refutes, as it does not hold, all other
// guesses about its image.
func (b *builder) withdraw(addr string, refutes bool) {
	b.decided.mu.Lock()
	defer b.decided.mu.Unlock()
	b.identified.open[addr] = true
	if refutes {
		b.identified.input.Refute(addr)
	} else {
		b.identified.input.Withdraw(addr)
	}
}

// isOpen reports whether a resource must be matched again.
func (b *builder) isOpen(addr string) bool {
	b.decided.mu.Lock()
	defer b.decided.mu.Unlock()
	return b.identified.open[addr]
}

// guessed reports whether the entry of a resource is a guess.
func (b *builder) guessed(addr string) bool {
	return b.identified.result.Pair(addr).Why == match.SameConfig
}

// confirm asks for the state again under the former address of the entry: a guess holds
// where both answers have the same status and, if stale, the same state. Where both say that
// nothing exists they say nothing about the guess: the removal of what else had this address
// could take with it what would be created here.
func (b *builder) confirm(ctx context.Context, r *config.Resource, s *Step, q observe.Query, answer protocol.Answer) bool {
	from := b.identified.result.Pair(r.Address).From
	q.Target, q.Secrets = s.Target(from), nil
	o := observe.Observe(ctx, b.session.Prober, q)
	was, stale := o.Answer, answer.Status == protocol.Stale
	if o.Err != nil || was.Status != answer.Status || stale && !jsondoc.Same(was.StaleState, answer.StaleState) {
		b.withdraw(r.Address, true)
		return false
	}
	if answer.Status == protocol.Missing {
		b.withdraw(r.Address, false)
		return false
	}
	s.Notes = append(s.Notes, reason.New(reason.Guessed, from))
	return true
}
