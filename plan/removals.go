package plan

import (
	"cmp"
	"context"
	"slices"

	"deployster/plan/decide"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/order"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// removals orders what a plan destroys.
type removals struct {
	session   *query.Session
	decisions *decide.Decisions
	plan      *Plan
}

// order puts what is destroyed of a class before what begins in that class. It returns the
// nodes that must be left for the next plan; else the plan has the order.
func (r removals) order(ctx context.Context) (held []string) {
	p, all := r.plan, r.plan.order()
	var ends []match.Finish
	late := map[string]bool{}
	for _, e := range r.decisions.Matched.Removals(p.Resources) {
		node := match.Finish{Node: all.End(e.Address), Class: e.Class, Recreated: e.Old && r.again(e.Address)}
		if e.Old {
			node.Of = e.Address
		} else if addr, number := moves.RecordedAt(e.Address); number > 0 && r.decisions.Matched.Facts.First(addr) {
			node.CreateFirst = true // the new object may turn out to have the same identity
		}
		ends = append(ends, node)
		late[node.Node] = true
	}
	for _, e := range p.Edges { // an end that waits for an end that is left is left too
		if from := p.Resources[e.From]; e.Origin == order.Removal && from.Change() == Left && late[all.End(e.To)] {
			return []string{all.End(e.To)}
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
		return nil
	}
	all.Edges = slices.DeleteFunc(slices.Clone(p.Edges), lets)
	o := match.Order(all.Nodes(), releases, r.beginnings(), ends)
	if len(o.Held) > 0 {
		return o.Held
	}
	p.Edges = slices.DeleteFunc(p.Edges, func(e Edge) bool { return lets(e) && !slices.Contains(o.Before[all.End(e.To)], e.From) })
	doubtful := func(node string) bool { return r.decisions.Matched.Facts.Doubts(node) != nil }
	p.Barriers = order.Barriers(o, r.queriedAgain(ctx, o), doubtful)
	return nil
}

// beginnings lists what begins, including the resources that the plan leaves out.
func (r removals) beginnings() []match.Begin {
	var list []match.Begin
	declared, _ := r.decisions.Matched.Classes()
	for _, d := range r.decisions.Matched.Facts.Declared() {
		late, step := d.Late, r.plan.Resources[d.Address]
		if step != nil {
			late = !objects.Known(step.Init, step.Unknown)
		}
		list = append(list, match.Begin{Node: d.Address, Class: declared[d.Address],
			Late:      late && len(r.session.Types.TypeOf(d.Address).Identity) > 0,
			Recreated: step != nil && step.Change() == Replace && r.again(d.Address), LeftOut: step == nil})
	}
	return list
}

// again reports whether a resource, even one that is replaced, has the identity of its entry.
func (r removals) again(addr string) bool {
	return r.decisions.Matched.Pair(addr).Why == match.Identity
}

// arrives reports whether an entry is still in another state: it may only be announced to this one.
func arrives(e state.Entry) bool { return e.Transfer != nil && e.Transfer.From != nil }

// queriedAgain lists, by class, the resources that apply queries again when all ends of the class
// are done: those that are valid and were queried before these ends. For entries that the
// plan leaves out it notes the types in Others.
func (r removals) queriedAgain(ctx context.Context, o match.Ordering) map[string][]string {
	p, s, matched := r.plan, r.session.Subject, r.decisions.Matched
	list := map[string][]string{}
	declared, recorded := matched.Classes()
	now := map[string]string{} // key -> its present address
	for _, d := range matched.Facts.Declared() {
		class, step := declared[d.Address], p.Resources[d.Address]
		now[matched.Pair(d.Address).Recorded] = d.Address
		if step != nil && (step.Settled() || slices.Contains(o.Loose, d.Address)) && len(o.Barriers[class]) > 0 {
			list[class] = append(list[class], d.Address)
		}
	}
	for key, addr := range matched.Ends() {
		now[key] = addr
	}
	p.Others = map[string]protocol.Type{}
	for _, e := range matched.Facts.Recorded() {
		class, addr := recorded[e.Key], now[e.Key]
		from, _ := s.MovedFrom(addr)
		entry, known := s.Recorded.Completed(cmp.Or(from, addr))
		if !s.Partial() || p.Resources[addr] != nil || len(o.Barriers[class]) == 0 || !known || arrives(entry) {
			continue
		}
		addr = cmp.Or(from, addr)
		ty, err := r.session.Prober.Init(ctx, r.session.RecordedStep(entry).Target(addr))
		if err != nil {
			for _, end := range o.EndsOf(class) {
				at, _ := order.OfNode(end)
				p.Resources[at].Notes = append(p.Resources[at].Notes, reason.New(reason.NotChecked, addr, entry.Type))
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
