package expand

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/instance"
)

// WithAutoEdges returns new instances with additional dependencies of resources, by address, all of one origin.
func WithAutoEdges(m *Instances, found map[string][]string, origin instance.Origin) (*Instances, hcl.Diagnostics) {
	mods := *m.Modules
	mods.AutoEdges = maps.Clone(mods.AutoEdges)
	if mods.AutoEdges == nil {
		mods.AutoEdges = make(map[string][]instance.Edge, len(found))
	}
	for addr, list := range found {
		edges := slices.Clone(mods.AutoEdges[addr])
		for _, to := range list {
			edges = append(edges, instance.Edge{To: to, Origin: origin})
		}
		mods.AutoEdges[addr] = edges
	}
	next := &Instances{Modules: mods.With(m.Modules.Pinned)}
	return next, next.Instantiate(false)
}
