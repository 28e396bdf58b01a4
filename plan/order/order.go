package order

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deployster/internal/base/graph"
	"deployster/plan/subject"
)

// Edge reports that To waits for From.
type Edge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Origin string `json:"origin"` // reference, dependency, depends_on, auto, provides, removal, or create_before_destroy
}

// Removal is the origin of the edges that order removals, CreateFirst that of the edges by
// which an old object is removed after the new one is created.
const (
	Removal     = "removal"
	CreateFirst = "create_before_destroy"
)

// Barrier is a point in the order of an apply: it is reached when all nodes in After
// have ended, and the nodes in Before start only then.
type Barrier struct {
	Name   string   `json:"name"`
	After  []string `json:"after,omitempty"`
	Before []string `json:"before,omitempty"`

	// OrderOnly reports that a failed node before it does not stop the nodes after it.
	OrderOnly bool `json:"order_only,omitempty"`
	// Late are resources whose identities are known when the barrier is reached.
	Late []string `json:"late,omitempty"`
	// Again are resources that are asked again when the barrier is reached.
	Again []string `json:"again,omitempty"`
}

// NodeKind is what a node stands for.
type NodeKind int

// The sorts of nodes.
const (
	Begin  NodeKind = iota // the resource, or its removal
	Old                    // the end of the old object, before the resource is created again
	Again                  // the query whether the object still exists
	Wait                   // a barrier; it and those below stand for no resource
	Settle                 // a group of guarded actions is confirmed or undone
	Turn                   // the next group of guarded actions on a host may begin
)

// The suffixes of addresses in names of nodes. No address ends with one of them.
const (
	oldMark   = " (old)"
	againMark = " (again)"
)

// barrier matches the names of barriers. No address looks like that.
var barrier = regexp.MustCompile(`^(barrier|known|doubt|purge):[0-9]+$`)

// settle and turn match the nodes of groups of guarded actions. An apply adds them: plans have none.
var (
	settle = regexp.MustCompile(`^guard:[0-9]+$`)
	turn   = regexp.MustCompile(`^turn:[0-9]+$`)
)

// SettleNode names the node that settles a group of guarded actions.
func SettleNode(number int) string { return fmt.Sprintf("guard:%d", number) }

// TurnNode names the node after which the group after that one may begin.
func TurnNode(number int) string { return fmt.Sprintf("turn:%d", number) }

// OldNode names the end of the old object of a replaced resource.
func OldNode(addr string) string { return addr + oldMark }

// OfNode returns the address of a node, or the name of a barrier, and the sort of node.
func OfNode(node string) (addr string, what NodeKind) {
	if barrier.MatchString(node) {
		return node, Wait
	}
	switch {
	case strings.HasPrefix(node, "guard:") && settle.MatchString(node):
		return node, Settle
	case strings.HasPrefix(node, "turn:") && turn.MatchString(node):
		return node, Turn
	}
	if addr, ok := strings.CutSuffix(node, oldMark); ok {
		return addr, Old
	}
	if addr, ok := strings.CutSuffix(node, againMark); ok {
		return addr, Again
	}
	return node, Begin
}

// Plan is the part of a plan from which the order follows.
type Plan struct {
	Resources []string
	Replaced  func(addr string) bool // it is destroyed and created again
	Edges     []Edge
	Barriers  []Barrier
}

// Before returns, for every resource, the resources that must be done before it.
func (p Plan) Before() graph.Graph {
	return p.collect(func(e Edge) (before, after string, ok bool) {
		// Between two replaced resources a removal edge orders the ends, not the beginnings.
		return e.From, e.To, e.Origin != Removal || !p.Replaced(e.To) || !p.Replaced(e.From)
	})
}

// DependantsFirst returns, for every resource, those that depend on it. That is not
// Before reversed: a removal waits for the removal of its dependants, so its edges
// point the other way already.
func (p Plan) DependantsFirst() graph.Graph {
	return p.collect(func(e Edge) (before, after string, ok bool) {
		if e.Origin == Removal {
			return e.From, e.To, !p.Replaced(e.To)
		}
		return e.To, e.From, true
	})
}

// collect returns the graph of the resources with what say returns for each edge.
func (p Plan) collect(say func(Edge) (before, after string, ok bool)) graph.Graph {
	g := make(graph.Graph, len(p.Resources))
	for _, addr := range p.Resources {
		g[addr] = nil
	}
	for _, e := range p.Edges {
		if before, after, ok := say(e); ok {
			add(g, after, before)
		}
	}
	return g
}

func add(g graph.Graph, node, before string) {
	if !slices.Contains(g[node], before) {
		g[node] = append(g[node], before)
	}
}

// Nodes returns all nodes of an apply, each with what must be done before it: the resources,
// the ends of replaced ones, the barriers, and the queries after barriers.
func (p Plan) Nodes() graph.Graph {
	g := make(graph.Graph, len(p.Resources))
	for _, addr := range p.Resources {
		g[addr] = nil
		if old := p.End(addr); old != addr {
			g[addr], g[old] = []string{old}, nil
		}
	}
	for _, e := range p.Edges {
		if e.Origin == Removal {
			add(g, p.End(e.To), p.End(e.From))
		} else {
			add(g, e.To, e.From)
		}
	}
	for _, b := range p.Barriers {
		p.addBarrier(g, b)
	}
	p.holdDependants(g)
	return g
}

// End returns the node after which the present object of a resource no longer exists.
func (p Plan) End(addr string) string {
	if p.Replaced(addr) {
		return OldNode(addr)
	}
	return addr
}

// addBarrier adds a barrier and the queries after it. A resource that waits for the barrier is
// asked before it begins, any other after it is done.
func (p Plan) addBarrier(g graph.Graph, b Barrier) {
	g[b.Name] = slices.Clone(b.After)
	waits := make(map[string]bool, len(b.Before))
	for _, node := range b.Before {
		add(g, node, b.Name)
		waits[node] = true
	}
	for _, addr := range b.Again {
		again := addr + againMark
		g[again] = []string{b.Name}
		if _, planned := g[addr]; waits[addr] {
			add(g, addr, again)
		} else if planned {
			add(g, again, addr)
		}
	}
}

// holdDependants makes dependants of a resource that is asked again wait for the answer: the
// removal may have taken with it what they need. Those that the removal waits for cannot.
func (p Plan) holdDependants(g graph.Graph) {
	early := map[string]bool{} // what a barrier waits for
	for _, b := range p.Barriers {
		subject.Reach(b.Name, g, early)
	}
	for _, e := range p.Edges {
		again := e.From + againMark
		if _, asked := g[again]; asked && e.Origin != Removal && !early[e.To] && slices.Contains(g[again], e.From) {
			add(g, e.To, again)
		}
	}
}
