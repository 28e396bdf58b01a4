package plan

import (
	"maps"
	"slices"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/base/parallel"
	"deployster/state"
)

// frame is a plan with the finished steps.
func (b *builder) frame() *Plan {
	// The time is in the plan's id: fine enough that no two plans have one id.
	p := &Plan{Format: Format, Deployster: b.options.Version, Created: b.options.Now.UTC().Truncate(time.Microsecond),
		Lineage: b.prior.Lineage, Serial: b.prior.Serial, Workspace: b.options.Workspace,
		Images: b.prober.Images(), Resources: b.steps, Moves: b.chosenMoves(), Selection: b.options.Selection, LeftOut: b.leftOut(),
		Variables: b.manifest.Variables(), SensitiveVariables: b.manifest.SensitiveVariables(), VariableOrigins: b.manifest.VariableOrigins(),
		Sources: b.manifest.Sources(), Edges: b.edges()}
	p.Instances = p.Sources.Instances
	for addr, step := range p.Resources {
		step.MovedFrom = b.movedFrom(addr)
	}
	return p
}

// assemble puts a whole plan together.
func (b *builder) assemble() *Plan {
	b.noteDependants()
	p := b.frame()
	layers, err := graph.Graph(p.Before()).Layers()
	if err == nil && p.replaces() { // else both are one graph
		_, err = p.Nodes().Layers()
	}
	if err != nil {
		b.report(nil, "", diag.Diagnostics{diag.Errorf("The order of removals is impossible",
			"%s. Remove them in two applies.", err)})
		return nil
	}
	p.Summary = summarize(p.Resources)
	p.Layers = layers
	for _, ref := range slices.Sorted(maps.Keys(p.Images)) {
		if b.options.FromRegistry != nil && b.options.FromRegistry(ref) {
			p.Pulled = append(p.Pulled, ref)
		}
	}
	p.Outputs = b.outputs()
	p.Checks = b.checks()
	p.Entries = b.entries(p)
	p.ID = Fingerprint(p)
	return p
}

// edges lists who waits for whom, sorted.
func (b *builder) edges() []Edge {
	edges := []Edge{}
	for _, r := range b.manifest.Resources() {
		if b.steps[r.Address] == nil {
			continue
		}
		for _, e := range r.Edges {
			edges = append(edges, Edge{From: e.To, To: r.Address, Origin: string(e.Origin)})
		}
	}
	edges = append(edges, b.removalEdges()...)
	edges = append(edges, b.replaceEdges()...)
	slices.SortFunc(edges, compareEdges)
	return slices.CompactFunc(edges, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
}

// entries fingerprints what the state file says of every resource here, also
// under the address that it had. Most have been when they were decided, while
// others waited for answers.
func (b *builder) entries(p *Plan) map[string]string {
	pins := make(map[string]string, len(p.Resources))
	var addresses []string
	for addr := range p.Resources {
		if pin, known := b.pins[addr]; known {
			pins[addr] = pin
		} else {
			addresses = append(addresses, addr)
		}
	}
	found := make([]string, len(addresses))
	parallel.For(len(addresses), func(from, to int) {
		for i := from; i < to; i++ {
			found[i] = EntryPin(b.recorded, addresses[i])
		}
	})
	for i, addr := range addresses {
		pins[addr] = found[i]
	}
	for _, m := range p.Moves {
		pins[m.From] = EntryPin(b.recorded, m.From)
	}
	return pins
}

// EntryPin is the fingerprint of what a state file says of a resource, "" when
// it says nothing.
func EntryPin(s state.Snapshot, addr string) string {
	entry, ok := s.Resources[addr]
	if !ok {
		return ""
	}
	return state.EntryHash(entry)
}
