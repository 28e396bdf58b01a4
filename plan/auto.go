package plan

import (
	"cmp"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/autoedge"
	"deployster/plan/observe"
	"deployster/plan/plugs"
	"deployster/plan/query"
	"deployster/plan/subject"
)

// addAutoEdges adds edges that types declare, where the manifest has auto_edges: they only
// order resources. Values that come from other resources are the recorded ones, as in
// matching. It returns, by address, the resources for which such an edge would close a cycle.
func addAutoEdges(x *query.Session) (cycles map[string][]string) {
	s := x.Subject
	if !s.Manifest.Settings().AutoEdges {
		return nil
	}
	nodes, before := autoNodes(x)
	edges, cycles := autoedge.Find(nodes, before)
	if len(edges) == 0 {
		return cycles
	}
	next, diags := config.WithAutoEdges(s.Manifest, edges, config.FromType)
	if x.Findings.Report(nil, "", diags); diags.HasErrors() {
		return cycles
	}
	s.Manifest = config.Converting(next, x.Types.TypeOf)
	s.Narrow()
	return cycles
}

// autoNodes returns all resources as nodes of automatic edges, and what each waits for so far.
func autoNodes(x *query.Session) (nodes []autoedge.Node, before graph.Graph) {
	s := x.Subject
	before = graph.Graph{}
	views := observe.Recorded(s.Prior)
	for _, r := range s.Matched() {
		ty := x.Types.TypeOf(r.Address)
		before[r.Address] = subject.Predecessors(r)
		scope := observe.States(append(subject.Predecessors(r), r.Address), views, s.Prior)
		resolved, diags := s.Manifest.Config(r.Address, scope)
		n := autoedge.Node{Address: r.Address, Kind: cmp.Or(ty.Kind, plugs.Untagged(r.TypeRef)), Type: ty}
		if r.Settings.Host != nil {
			n.Host = r.Settings.Host.Name
		}
		if !diags.HasErrors() { // errors are reported when it is decided
			n.Config = resolved.Value
		}
		nodes = append(nodes, n)
	}
	return nodes, before
}
