package order

import (
	"regexp"
	"slices"
	"strings"

	"deployster/internal/base/graph"
)

// Edge says that To waits for From.
type Edge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Origin string `json:"origin"` // reference, dependency, depends_on, auto, removal, or create_before_destroy
}

// Removal is the origin of the edges that order removals, and CreateFirst that of those
// which let an old thing go after the new one is made.
const (
	Removal     = "removal"
	CreateFirst = "create_before_destroy"
)

// Barrier is a point in the order of an apply: it is reached when all nodes in After
// have ended, and before it those in Before do not start.
type Barrier struct {
	Name   string   `json:"name"`
	After  []string `json:"after,omitempty"`
	Before []string `json:"before,omitempty"`

	// OrderOnly says that a failure before it holds back nothing after it.
	OrderOnly bool `json:"order_only,omitempty"`
	// Late are resources: what names their things is known when it is reached.
	Late []string `json:"late,omitempty"`
	// Again are resources that are asked again when it is reached.
	Again []string `json:"again,omitempty"`
}

// What is what a node stands for.
type What int

// The sorts of nodes.
const (
	Begin What = iota // the resource, or its removal
	Old               // the end of what is there, before it is made again
	Again             // the question whether it is still there
	Wait              // a barrier
)

// The marks behind addresses. No address ends like them.
const (
	oldMark   = " (old)"
	againMark = " (again)"
)

// barrier is how the names of barriers are. No address begins like that.
var barrier = regexp.MustCompile(`^(barrier|known|doubt):[0-9]+$`)

// OldNode names the end of what is there of a resource that is replaced.
func OldNode(addr string) string { return addr + oldMark }

// OfNode gives the address of a node, or the name of a barrier, and what it is.
func OfNode(node string) (addr string, what What) {
	if barrier.MatchString(node) {
		return node, Wait
	}
	if addr, ok := strings.CutSuffix(node, oldMark); ok {
		return addr, Old
	}
	if addr, ok := strings.CutSuffix(node, againMark); ok {
		return addr, Again
	}
	return node, Begin
}

// Plan is what the order follows from.
type Plan struct {
	Resources []string
	Replaced  func(addr string) bool // it is destroyed and made again
	Edges     []Edge
	Barriers  []Barrier
}

// Before gives, for every resource, those that must be done before it.
func (p Plan) Before() graph.Graph {
	return p.collect(func(e Edge) (before, after string, ok bool) {
		// Between two that are replaced it orders the ends, not the new beginnings.
		return e.From, e.To, e.Origin != Removal || !p.Replaced(e.To) || !p.Replaced(e.From)
	})
}

// DependantsFirst gives, for every resource, those that depend on it. That is not
// Before turned around: a removal waits for the removal of its dependants, so its
// edges lead the other way already.
func (p Plan) DependantsFirst() graph.Graph {
	return p.collect(func(e Edge) (before, after string, ok bool) {
		if e.Origin == Removal {
			return e.From, e.To, !p.Replaced(e.To)
		}
		return e.To, e.From, true
	})
}

// collect makes a graph of the resources of what is said of each edge.
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

// Nodes is all that an apply does, and what must be done before each: the resources,
// the ends of those that are replaced, the barriers, and what is asked after them.
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
		p.bar(g, b)
	}
	return g
}

// End is the node after which what is there of a resource is no more.
func (p Plan) End(addr string) string {
	if p.Replaced(addr) {
		return OldNode(addr)
	}
	return addr
}

// bar adds a barrier, and what is asked when it is reached: before the resource begins
// where that waits for the barrier, else after it.
func (p Plan) bar(g graph.Graph, b Barrier) {
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
