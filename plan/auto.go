package plan

import (
	"cmp"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/autoedge"
	"deployster/plan/observe"
	"deployster/plan/plugs"
	"deployster/plan/subject"
)

// addAutoEdges adds edges that types declare, where the manifest has auto_edges: they only
// order resources. Values that come from other resources are the recorded ones, as in
// matching.
func addAutoEdges(b *builder) {
	if !b.Manifest.Settings().AutoEdges {
		return
	}
	var nodes []autoedge.Node
	before, views := graph.Graph{}, observe.Recorded(b.Prior)
	for _, r := range b.Matched() {
		ty := b.TypeOf(r.Address)
		before[r.Address] = subject.Predecessors(r)
		resolved, diags := b.Manifest.Config(r.Address, b.scope(r.Address, before[r.Address], views))
		n := autoedge.Node{Address: r.Address, Kind: cmp.Or(ty.Kind, plugs.Untagged(r.TypeRef)), Type: ty}
		if r.Settings.Host != nil {
			n.Host = r.Settings.Host.Name
		}
		if !diags.HasErrors() { // errors are reported when it is decided
			n.Config = resolved.Value
		}
		nodes = append(nodes, n)
	}
	edges, circles := autoedge.Find(nodes, before)
	b.circles = circles
	if len(edges) == 0 {
		return
	}
	next, diags := config.WithAutoEdges(b.Manifest, edges)
	if b.Report(nil, "", diags); diags.HasErrors() {
		return
	}
	b.Manifest = config.Converting(next, b.TypeOf)
	b.Narrow()
}
