package autoedge

import (
	"path"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/internal/base/jsondoc"
	"deployster/plan/reason"
	"deployster/protocol"
)

// Node is a declared resource.
type Node struct {
	Address string
	Host    string // "" = this machine
	Kind    string // of its object
	Config  []byte // as far as it is known
	Type    protocol.Type

	Provides []protocol.Provided // what it brings, as far as it has answered
	Kept     []string            // what it was recorded to depend on, and has not answered now
}

// place identifies an object: its host, kind and name.
type place struct{ host, kind, name string }

// Find returns, by address, what resources must come after, in addition to before. It leaves
// out an edge that would close a cycle, and returns it among the cycles instead.
func Find(nodes []Node, before graph.Graph) (edges, cycles map[string][]string) {
	edges, cycles = map[string][]string{}, map[string][]string{}
	known, configs := map[place]string{}, make([]any, len(nodes))
	for i, n := range nodes {
		configs[i], _ = jsondoc.Value(n.Config) // a config that is not known gives nil, in which nothing is found
		if len(n.Type.Identity) == 1 {
			if name, ok := jsondoc.At(configs[i], jsondoc.Pointer(n.Type.Identity[0])).(string); ok {
				known[place{n.Host, n.Kind, name}] = n.Address
				known[place{n.Host, n.Kind, path.Clean(name)}] = n.Address
			}
		}
	}
	for i, n := range nodes {
		for _, e := range n.Type.AutoEdges {
			for _, value := range texts(jsondoc.At(configs[i], jsondoc.Pointer(e.By))) {
				to := nearestObject(known, n, e, value)
				switch {
				case to == "" || reaches(n.Address, to, before):
				case reaches(to, n.Address, before):
					cycles[n.Address] = append(cycles[n.Address], to)
				default:
					before[n.Address] = append(before[n.Address], to)
					edges[n.Address] = append(edges[n.Address], to)
				}
			}
		}
	}
	return edges, cycles
}

// texts returns a string as a list of one, and the strings of a list.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}

// nearestObject returns the address of the object with a name or, with Parents, of its nearest parent; "" = none.
func nearestObject(known map[place]string, n Node, e protocol.AutoEdge, name string) string {
	if to := known[place{n.Host, e.Kind, name}]; to != "" && to != n.Address {
		return to
	}
	if !e.Parents {
		return ""
	}
	for at := path.Clean(name); ; at = path.Dir(at) {
		if to := known[place{n.Host, e.Kind, at}]; to != "" && to != n.Address {
			return to
		}
		if at == path.Dir(at) {
			return ""
		}
	}
}

// reaches reports whether from comes after to, directly or not, or is to.
func reaches(from, to string, before graph.Graph) bool {
	seen, open := map[string]bool{}, []string{from}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if at == to {
			return true
		}
		if !seen[at] {
			seen[at] = true
			open = append(open, before[at]...)
		}
	}
	return false
}

// Notes returns what to know of a changed resource: what it waits for because its type
// declares it or because that brings what it needs, and what it does not wait for because that would close a cycle.
func Notes(edges []config.Edge, cycles []string) (notes []*reason.Reason) {
	for _, e := range edges {
		switch e.Origin {
		case config.FromType:
			notes = append(notes, reason.New(reason.AutoEdge, e.To))
		case config.FromProvides:
			notes = append(notes, reason.New(reason.ProvidedEdge, e.To))
		}
	}
	for _, to := range cycles {
		notes = append(notes, reason.New(reason.AutoEdgeCycle, to))
	}
	return notes
}
