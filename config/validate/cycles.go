package validate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/source"
)

// findCycles reports one cycle for each group of nodes that depend on each other.
func findCycles(links map[node][]connection) hcl.Diagnostics {
	const open, done = 1, 2
	state := make(map[node]int, len(links))
	var path []node
	var via []connection // via[i] leads from path[i] to path[i+1]
	var diags hcl.Diagnostics
	var visit func(n node)
	visit = func(n node) {
		state[n] = open
		path = append(path, n)
		for _, c := range links[n] {
			via = append(via, c)
			switch state[c.to] {
			case 0:
				visit(c.to)
			case open:
				i := slices.Index(path, c.to)
				diags = append(diags, cycle(path[i:], via[i:]))
			}
			via = via[:len(via)-1]
			if len(diags) > 0 && len(diags) >= maxCycles {
				break
			}
		}
		path = path[:len(path)-1]
		state[n] = done
	}
	for _, n := range sortedNodes(links) {
		if state[n] == 0 {
			visit(n)
		}
	}
	return diags
}

// sortedNodes returns the nodes in the order of their names.
func sortedNodes(links map[node][]connection) []node {
	return slices.SortedFunc(maps.Keys(links), func(a, b node) int {
		return cmp.Or(strings.Compare(a.b.Path, b.b.Path), int(a.kind)-int(b.kind), strings.Compare(a.name, b.name))
	})
}

// maxCycles is how many cycles are reported at once: breaking one often breaks
// others.
const maxCycles = 5

func cycle(nodes []node, via []connection) *hcl.Diagnostic {
	if len(nodes) == 1 {
		return source.Failure(via[0].at, "Refers to itself", "%s %s itself. A value cannot be computed from itself: remove the reference.",
			nodes[0], via[0].verb)
	}
	var b strings.Builder
	for i, n := range nodes {
		fmt.Fprintf(&b, "\n  %s %s %s (%s:%d)", n, via[i].verb, via[i].to, via[i].at.Filename, via[i].at.Start.Line)
	}
	return source.Failure(via[0].at, "Dependency cycle",
		"Each of these depends on the next:%s\nRemove one of the references.", b.String())
}
