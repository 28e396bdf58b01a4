package guarding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"deployster/apply/turns"
	"deployster/internal/base/graph"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/plan/subject"
	"deployster/protocol"
)

// Groups are the groups of guarded actions of an apply.
type Groups struct {
	plan *plan.Plan
	list []*Group
	of   map[string]*Group // by address
}

// New returns the groups of a plan: resources on one host that may have guarded actions, and that
// edges join, are one.
func New(p *plan.Plan, c Client) *Groups {
	gs := &Groups{plan: p, of: map[string]*Group{}}
	joined := map[string]string{} // address -> an address of its group, at last one that leads to itself
	root := func(addr string) string {
		for joined[addr] != addr {
			addr = joined[addr]
		}
		return addr
	}
	for addr, step := range p.Resources {
		if guarded(step) {
			joined[addr] = addr
		}
	}
	if len(joined) == 0 {
		return gs
	}
	for _, e := range p.Edges {
		if joined[e.From] != "" && joined[e.To] != "" && turns.HostOf(p, e.From) == turns.HostOf(p, e.To) {
			joined[root(e.From)] = root(e.To)
		}
	}
	members := map[string]map[string]bool{}
	for addr := range joined {
		if members[root(addr)] == nil {
			members[root(addr)] = map[string]bool{}
		}
		members[root(addr)][addr] = true
	}
	all := slices.Collect(maps.Values(members))
	nodes := p.Nodes()
	sorted := nodes.Sorted()
	for _, one := range whole(all, nodes, func(addr string) string { return turns.HostOf(p, addr) }) {
		g := &Group{client: c, host: turns.HostOf(p, slices.Sorted(maps.Keys(one))[0]), saved: map[string]bool{}, ended: map[string]bool{},
			inner: map[string]bool{}, held: map[string]*Held{}}
		for _, node := range slices.Sorted(maps.Keys(nodes)) {
			if addr, what := order.OfNode(node); one[addr] && what != order.Wait {
				g.nodes = append(g.nodes, node)
				gs.of[addr] = g
			}
		}
		for addr := range one {
			if Reverts(p.Resources[addr]) != 0 {
				g.inner[addr] = true
			}
		}
		if len(g.inner) > 0 {
			g.inner = whole([]map[string]bool{g.inner}, nodes, func(addr string) string { return turns.HostOf(p, addr) })[0]
		}
		for _, node := range sorted {
			if addr, what := order.OfNode(node); one[addr] && what == order.Begin {
				g.of = append(g.of, addr)
			}
		}
		gs.list = append(gs.list, g)
	}
	slices.SortFunc(gs.list, func(a, b *Group) int { return slices.Compare(a.nodes, b.nodes) })
	for i, g := range gs.list {
		g.Settle, g.Turn = order.SettleNode(i+1), order.TurnNode(i+1)
	}
	return gs
}

// Reverts returns after how long the guarded actions of a step are undone unless its host is reached again; 0 =
// none is guarded.
func Reverts(step *plan.Step) time.Duration {
	host := step.Settings.Host
	if host == nil || !slices.ContainsFunc(Actions(step), func(a protocol.Action) bool { return a.Guarded }) {
		return 0
	}
	return host.UndoUnlessReached
}

// Words returns what a plan shows of the guarded actions of a step; "" = it has none.
func Words(step *plan.Step) string {
	if after := Reverts(step); after != 0 {
		return fmt.Sprintf("will be reverted after %gs unless the host can be reached again", after.Seconds())
	}
	return ""
}

// Actions returns all actions of a step that the plan knows.
func Actions(step *plan.Step) []protocol.Action {
	if old := step.Old(); old != nil {
		return slices.Concat(old.Answer().Actions, step.Answer().Actions)
	}
	return step.Answer().Actions
}

// guarded reports whether a step may have a guarded action on a host that undoes it.
func guarded(step *plan.Step) bool {
	host := step.Settings.Host
	if host == nil || host.UndoUnlessReached == 0 || step.Init.Guard == nil {
		return false
	}
	return step.Change() == plan.Deferred || step.Certainty.Open() || Reverts(step) != 0
}

// whole adds to each group what is done between two of its resources on its host, and merges groups
// of one host of which each has something before the other.
func whole(all []map[string]bool, nodes graph.Graph, host func(addr string) string) []map[string]bool {
	after := nodes.Reverse()
	around := func(one map[string]bool, along graph.Graph) map[string]bool {
		reached := map[string]bool{}
		for node := range nodes {
			if addr, _ := order.OfNode(node); one[addr] {
				subject.Reach(node, along, reached)
			}
		}
		return reached
	}
	for {
		merged := false
		for _, one := range all {
			before, behind := around(one, nodes), around(one, after)
			at := ""
			for addr := range one {
				at = host(addr)
			}
			for node := range before {
				if addr, what := order.OfNode(node); behind[node] && what != order.Wait && host(addr) == at {
					one[addr] = true
				}
			}
		}
		for i := 0; i < len(all) && !merged; i++ {
			for j := i + 1; j < len(all) && !merged; j++ {
				before, behind := around(all[i], nodes), around(all[i], after)
				if merged = mutual(all[j], before, behind) && sameHost(all[i], all[j], host); merged {
					maps.Copy(all[i], all[j])
					all = slices.Delete(all, j, j+1)
				}
			}
		}
		if !merged {
			return all
		}
	}
}

// mutual reports whether a group has something before another and something after it, or shares
// resources with it.
func mutual(one, before, behind map[string]bool) bool {
	first, last := false, false
	for addr := range one {
		first = first || before[addr]
		last = last || behind[addr]
	}
	return first && last
}

func sameHost(a, b map[string]bool, host func(string) string) bool {
	for x := range a {
		for y := range b {
			return host(x) == host(y)
		}
	}
	return false
}

// Of returns the group of a resource; nil = it has none.
func (gs *Groups) Of(addr string) *Group { return gs.of[addr] }

// Begin prepares an action of a step: if it is guarded, its group is armed and its resource protected, with
// all others whose guarded actions are known; request returns their inputs. It returns the key of the
// group; "" = the action is of no armed group. After an error the action must not begin.
func (gs *Groups) Begin(ctx context.Context, step *plan.Step, addr string, guarded bool, in protocol.ActionInput,
	request func(*plan.Step, string) (protocol.StateInput, error)) (string, error) {
	g := gs.of[addr]
	switch host := step.Settings.Host; {
	case g != nil:
	case guarded && host != nil && host.UndoUnlessReached != 0:
		return "", ErrAfter
	default:
		return "", nil
	}
	return g.begin(ctx, member{step.Target(addr), step.Init, in}, guarded, func(other string) *member {
		step := gs.plan.Resources[other]
		if Reverts(step) == 0 || len(step.Unknown) > 0 {
			return nil // what it does is not known yet
		}
		in, err := request(step, other)
		if err != nil {
			return nil // its own turn has the error
		}
		return &member{step.Target(other), step.Init, protocol.ActionInput{StateInput: in, Action: Actions(step)[0].Name,
			StaleState: step.Answer().Stale}}
	})
}

// Named returns the group that a node settles; nil = it settles none.
func (gs *Groups) Named(node string) *Group {
	for _, g := range gs.list {
		if g.Settle == node {
			return g
		}
	}
	return nil
}

// Open returns the groups that are armed, and not settled.
func (gs *Groups) Open() []*Group {
	return slices.DeleteFunc(slices.Clone(gs.list), func(g *Group) bool { return !g.Armed() })
}

// Order adds to a graph the nodes that settle groups. What depends on a member of a group is done
// after that node, and what a member depends on before all members; the groups of one host follow
// each other. lenient are nodes that are also done after a failure.
func (gs *Groups) Order(nodes graph.Graph) (ordered graph.Graph, lenient []string) {
	if len(gs.list) == 0 {
		return nodes, nil
	}
	g := make(graph.Graph, len(nodes)+2*len(gs.list))
	for node, before := range nodes {
		g[node] = slices.Clone(before)
	}
	for _, one := range gs.list {
		g[one.Settle], g[one.Turn] = slices.Clone(one.nodes), []string{one.Settle}
		lenient = append(lenient, one.Settle, one.Turn)
	}
	names := slices.Sorted(maps.Keys(nodes))
	for _, one := range gs.list {
		for _, node := range names {
			for _, before := range nodes[node] {
				switch in, comes := slices.Contains(one.nodes, node), slices.Contains(one.nodes, before); {
				case comes && !in:
					join(g, node, one.Settle)
				case in && !comes:
					for _, member := range one.nodes {
						join(g, member, before)
					}
				}
			}
		}
	}
	gs.chain(g)
	return g, lenient
}

// chain has the groups of one host follow each other.
func (gs *Groups) chain(g graph.Graph) {
	at := map[string]int{}
	for i, node := range g.Sorted() {
		at[node] = i
	}
	list := slices.Clone(gs.list)
	slices.SortFunc(list, func(a, b *Group) int { return at[a.Settle] - at[b.Settle] })
	last := map[string]*Group{}
	for _, one := range list {
		if before := last[one.host]; before != nil {
			for _, member := range one.nodes {
				join(g, member, before.Turn)
			}
		}
		last[one.host] = one
	}
}

// join has a node done after another, unless that would be a cycle.
func join(g graph.Graph, node, before string) {
	reached := map[string]bool{}
	subject.Reach(before, g, reached)
	if !reached[node] && !slices.Contains(g[node], before) {
		g[node] = append(g[node], before)
	}
}
