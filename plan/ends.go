package plan

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/plan/things"
	"deployster/protocol"
	"deployster/state/moves"
)

// end is the removal of a thing by the plan.
type end struct {
	addr  string
	class string // see match.Classes
	key   string // of the entry; "" = there is no entry
	old   bool   // the resource is replaced
}

// ends lists what the plan destroys at these addresses, without the things of types with memory.
func (b *builder) ends(addresses []string) []end {
	declared, recorded := b.identified.result.Classes()
	var list []end
	for _, addr := range addresses {
		step := b.steps[addr]
		switch {
		case step == nil:
		case step.Change() == Destroy:
			key := b.identified.ends[addr].Recorded
			list = append(list, end{addr, recorded[key], key, false})
		case step.Change() == Replace:
			key := b.identified.result.Pair(addr).Recorded
			list = append(list, end{addr, cmp.Or(recorded[key], declared[addr]), key, true})
		}
	}
	return slices.DeleteFunc(list, func(e end) bool { return e.class == "" })
}

// doubt finds the resources whose things the ends of this plan may destroy: it is unknown
// whether they are the same things. It undoes what was decided about these resources and
// their dependants, and reports whether it found any new ones.
func (b *builder) doubt() bool {
	ends := b.ends(slices.Sorted(maps.Keys(b.steps)))
	if len(ends) == 0 || b.Errors() > 0 {
		return false
	}
	recorded, byClass := map[string]match.Thing{}, map[string][]end{}
	for _, e := range b.identified.input.Recorded {
		recorded[e.Key] = e.Thing
	}
	for _, e := range ends {
		byClass[e.class] = append(byClass[e.class], e)
	}
	declared, _ := b.identified.result.Classes()
	var again []string
	for _, d := range b.identified.input.Declared {
		step, why := b.steps[d.Address], b.identified.result.Pair(d.Address).Why
		if step == nil || step.Change() != Valid && step.Change() != Update || why != match.Nothing && why != match.Address ||
			b.identified.doubts[d.Address] != nil {
			continue
		}
		for _, e := range byClass[declared[d.Address]] {
			if relation, _ := match.Compare(d.Thing, recorded[e.key], false); relation == match.Unclear {
				b.identified.doubts[d.Address] = reason.New(reason.MayBeDestroyed, e.addr)
				again = append(again, d.Address)
				break
			}
		}
	}
	undecide(b, again)
	return len(again) > 0
}

// undecide undoes what was decided about resources, and about all that depends on them.
func undecide(b *builder, addresses []string) {
	if len(addresses) == 0 || len(b.steps) == 0 {
		return
	}
	before, reached := graph.Graph{}, map[string]bool{}
	for _, r := range b.Manifest.Resources() {
		before[r.Address] = subject.Predecessors(r)
	}
	after := before.Reverse()
	for _, addr := range addresses {
		subject.Reach(addr, after, reached)
	}
	for addr := range reached {
		delete(b.steps, addr)
	}
}

// putInOrder puts what is destroyed of a class before what begins in that class. It
// reports whether it left an end for the next plan, and so changed the steps.
func (b assembler) putInOrder(ctx context.Context, p *Plan) (held bool) {
	all := p.order()
	var ends []match.Finish
	late := map[string]bool{}
	for _, e := range b.ends(all.Resources) {
		node := match.Finish{Node: all.End(e.addr), Class: e.class, Anew: e.old && b.anew(e.addr)}
		if e.old {
			node.Of = e.addr
		} else if addr, number := moves.RecordedAt(e.addr); number > 0 && b.identified.first[addr] {
			node.CreateFirst = true // the new thing may turn out to have the same identity
		}
		ends = append(ends, node)
		late[node.Node] = true
	}
	for _, e := range p.Edges { // an end that waits for an end that is left is left too
		if from := p.Resources[e.From]; e.Origin == order.Removal && from.Change() == Left && late[all.End(e.To)] {
			return b.hold(all.End(e.To))
		}
	}
	lets := func(e Edge) bool { // From stays and releases what is destroyed
		from := p.Resources[e.From].Change()
		return e.Origin == order.Removal && from != Destroy && from != Forget && from != Replace && from != Left
	}
	var releases []match.Edge
	for _, e := range p.Edges {
		if lets(e) {
			releases = append(releases, match.Edge{Node: all.End(e.To), After: e.From})
		}
	}
	if len(ends)+len(releases) == 0 {
		return false
	}
	all.Edges = slices.DeleteFunc(slices.Clone(p.Edges), lets)
	o := match.Order(all.Nodes(), releases, b.beginnings(), ends)
	if len(o.Held) > 0 {
		return b.hold(o.Held...)
	}
	p.Edges = slices.DeleteFunc(p.Edges, func(e Edge) bool { return lets(e) && !slices.Contains(o.Before[all.End(e.To)], e.From) })
	p.Barriers = order.Barriers(o, b.again(ctx, p, o), func(node string) bool { return b.identified.doubts[node] != nil })
	return false
}

// beginnings lists what begins, including the resources that the plan leaves out.
func (b assembler) beginnings() []match.Begin {
	var list []match.Begin
	declared, _ := b.identified.result.Classes()
	for _, d := range b.identified.input.Declared {
		late, step := d.Late, b.steps[d.Address]
		if step != nil {
			late = !things.Known(step.Init, step.Unknown)
		}
		list = append(list, match.Begin{Node: d.Address, Class: declared[d.Address], Late: late && len(b.TypeOf(d.Address).Identity) > 0,
			Anew: step != nil && step.Change() == Replace && b.anew(d.Address), LeftOut: step == nil})
	}
	return list
}

// anew reports whether a resource, even one that is replaced, has the identity of its entry.
func (b assembler) anew(addr string) bool {
	return b.identified.result.Pair(addr).Why == match.Identity
}

// hold leaves ends for the next plan, because whether they are allowed depends on what
// becomes known only after them.
func (b assembler) hold(nodes ...string) bool {
	for _, node := range nodes {
		addr, what := order.OfNode(node)
		step := b.steps[addr]
		if what == order.Old {
			b.holdOld(addr, step)
			continue
		}
		left := b.session.RecordedStep(b.Prior.Resources[addr])
		left.Part, left.Init = &change.Left{}, step.Init
		left.Reason = reason.New(reason.LateIdentity)
		b.steps[addr] = left
	}
	return true
}

// holdOld leaves the recorded thing of a resource that means another thing now.
func (b assembler) holdOld(addr string, step *Step) {
	if b.identified.result.Pair(addr).Why != match.Other {
		asks := "-replace"
		if b.decided.trigger(addr) != nil {
			asks = "replace_triggered_by"
		}
		b.Report(nil, "", diag.Diagnostics{{Severity: diag.Error, Summary: "Resource cannot be replaced now", Address: addr,
			Detail: "What identifies another resource of its type becomes known only during apply, and depends on it or is left out of this plan. " +
				"Apply without " + asks + " first."}})
		return
	}
	old := step.Old()
	step.Part, step.Another = &change.Deferred{Expected: Create}, true
	step.Reason = reason.New(reason.LeftForNext)
	key := moves.Depose(addr, func(key string) bool { _, taken := b.Prior.Resources[key]; return taken })
	b.identified.moves = append(b.identified.moves, moves.Move{From: addr, To: key, Why: string(match.Other)})
	b.Report(nil, "", b.Identify(b.identified.moves))
	b.steps[key] = old
	b.identified.ends[key] = match.End{Recorded: b.identified.result.Pair(addr).Recorded, Address: addr, Deposed: true}
	b.hold(key)
}

// again lists, by class, the resources that apply asks again when all ends of the class
// are done: those that are valid and were asked before these ends. For entries that the
// plan leaves out it notes the types in Others.
func (b assembler) again(ctx context.Context, p *Plan, o match.Ordering) map[string][]string {
	list := map[string][]string{}
	declared, recorded := b.identified.result.Classes()
	now := map[string]string{} // key -> its present address
	for _, d := range b.identified.input.Declared {
		class, step := declared[d.Address], p.Resources[d.Address]
		now[b.identified.result.Pair(d.Address).Recorded] = d.Address
		if step != nil && (step.Settled() || slices.Contains(o.Loose, d.Address)) && len(o.Barriers[class]) > 0 {
			list[class] = append(list[class], d.Address)
		}
	}
	for addr, e := range b.identified.ends {
		now[e.Recorded] = addr
	}
	p.Others = map[string]protocol.Type{}
	for _, e := range b.identified.input.Recorded {
		class, addr := recorded[e.Key], now[e.Key]
		from, _ := b.MovedFrom(addr)
		entry, known := b.Recorded.Completed(cmp.Or(from, addr))
		if !b.Partial() || p.Resources[addr] != nil || len(o.Barriers[class]) == 0 || !known {
			continue
		}
		addr = cmp.Or(from, addr)
		ty, err := b.session.Prober.Init(ctx, b.session.RecordedStep(entry).Target(addr))
		if err != nil {
			for _, end := range o.EndsOf(class) {
				at, _ := order.OfNode(end)
				b.steps[at].Notes = append(b.steps[at].Notes, reason.New(reason.NotChecked, addr, entry.Type))
			}
			continue
		}
		p.Others[addr], list[class] = ty, append(list[class], addr)
	}
	for _, addresses := range list {
		slices.Sort(addresses)
	}
	return list
}
