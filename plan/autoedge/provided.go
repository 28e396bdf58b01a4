package autoedge

import (
	"path"
	"slices"
	"strings"

	"deployster/internal/base/graph"
	"deployster/internal/base/jsondoc"
)

// Provided is what follows from what resources provide, by address.
type Provided struct {
	Edges  map[string][]string // what must come after, in addition to before
	Cycles map[string][]string // the edges that would close a cycle, and are left out
	// Brought are the resources that bring the object itself, or a directory above it, whatever else
	// orders the two.
	Brought map[string][]string
}

// need is an object that a node needs.
type need struct {
	kind, name string
	above      bool // what is above it in the path counts too
	own        bool // it is the node's own object
}

// FindProvided returns the edges to what provides an object of a node, what the object is below, or what
// its type declares as earlier.
func FindProvided(nodes []Node, before graph.Graph) Provided {
	found := Provided{Edges: map[string][]string{}, Cycles: map[string][]string{}, Brought: map[string][]string{}}
	providers := map[place][]string{}
	for _, n := range nodes {
		for _, p := range n.Provides {
			at := place{n.Host, p.Kind, clean(p.ID)}
			if !slices.Contains(providers[at], n.Address) {
				providers[at] = append(providers[at], n.Address)
			}
		}
	}
	for _, n := range nodes {
		for _, to := range n.Kept {
			if !slices.Contains(before[n.Address], to) && !reaches(n.Address, to, before) && !reaches(to, n.Address, before) {
				found.add(found.Edges, n.Address, to)
				before[n.Address] = append(before[n.Address], to)
			}
		}
		if len(providers) == 0 {
			continue
		}
		for _, want := range needs(n) {
			for _, to := range want.providers(n, providers) {
				found.connect(n.Address, to, want.own, before)
			}
		}
	}
	return found
}

// connect puts a node after what provides what it needs, if that closes no cycle.
func (f *Provided) connect(addr, to string, own bool, before graph.Graph) {
	cycle := reaches(to, addr, before)
	if own && !cycle {
		f.add(f.Brought, addr, to)
	}
	switch {
	case cycle:
		f.add(f.Cycles, addr, to)
	case !reaches(addr, to, before):
		f.add(f.Edges, addr, to)
		before[addr] = append(before[addr], to)
	}
}

func (f *Provided) add(into map[string][]string, addr, to string) {
	if !slices.Contains(into[addr], to) {
		into[addr] = append(into[addr], to)
	}
}

// needs returns the object of a node, and those that its type declares as earlier.
func needs(n Node) (list []need) {
	config, _ := jsondoc.Value(n.Config)
	identity := ""
	if len(n.Type.Identity) == 1 {
		identity = n.Type.Identity[0]
		if name, ok := jsondoc.At(config, jsondoc.Pointer(identity)).(string); ok {
			list = append(list, need{kind: n.Kind, name: name, above: true, own: true})
		}
	}
	for _, e := range n.Type.AutoEdges {
		for _, name := range texts(jsondoc.At(config, jsondoc.Pointer(e.By))) {
			list = append(list, need{kind: e.Kind, name: name, above: e.Parents, own: e.By == identity})
		}
	}
	return list
}

// providers returns the other nodes on the same host that provide what is needed, or what is above it.
func (w need) providers(n Node, all map[place][]string) (list []string) {
	for at := clean(w.name); ; at = path.Dir(at) {
		for _, to := range all[place{n.Host, w.kind, at}] {
			if to != n.Address {
				list = append(list, to)
			}
		}
		if !w.above || !strings.HasPrefix(at, "/") || at == "/" {
			return list
		}
	}
}

// clean returns a path without slashes at its end and the like, and any other name unchanged.
func clean(name string) string {
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	return name
}
