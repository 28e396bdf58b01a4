package plan

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/plan/artifacts"
	"deployster/plan/autoedge"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state/moves"
)

// assembler puts the plan together from what a builder has decided.
type assembler struct{ *builder }

// frame returns a plan with the steps decided so far.
func (b assembler) frame() *Plan {
	// The plan's id covers the time, which is fine enough that no two plans have the same id.
	p := &Plan{Format: Format, Deployster: b.session.Options.Version, Created: b.session.Options.Now.UTC().Truncate(time.Microsecond),
		Lineage: b.Prior.Lineage, Serial: b.Prior.Serial, Workspace: b.session.Options.Workspace,
		Images: b.session.Prober.Images(), Resources: b.steps, Moves: b.chosenMoves(), Selection: b.Selection,
		LeftOut: b.leftOut(), Unreached: b.unreached(),
		Variables: b.Manifest.Variables().Values(), SensitiveVariables: b.Manifest.Variables().Sensitive(),
		VariableOrigins: b.Manifest.Variables().Origins(),
		Sources: b.Manifest.Sources(), Edges: b.edges()}
	p.Instances, p.Artifacts, p.Hosts = p.Sources.Instances, b.session.Options.Artifacts.Found(), b.session.Options.Hosts
	for addr, step := range p.Resources {
		if at, number := moves.RecordedAt(addr); number > 0 {
			step.Deposed = at
		} else {
			step.MovedFrom, step.MovedWhy = b.MovedFrom(addr)
		}
	}
	return p
}

// chosenMoves returns the moves of the resources that the plan covers: what the plan
// leaves out keeps its address too.
func (b assembler) chosenMoves() []moves.Move {
	return slices.DeleteFunc(slices.Clone(b.Moves), func(m moves.Move) bool { return b.steps[m.To] == nil })
}

// assemble puts a whole plan together.
func (b assembler) assemble(ctx context.Context) *Plan {
	b.noteDependants()
	p := b.frame()
	for b.Errors() == 0 && b.putInOrder(ctx, p) {
		p = b.frame()
	}
	p.Summary = summarize(p.Resources)
	for _, r := range b.Manifest.Resources() {
		if d := artifacts.FeedsItself(r, p.Artifacts); d != nil {
			b.Report(r, "", diag.Diagnostics{d})
		}
	}
	layers, err := p.Before().Layers()
	if err == nil && p.Summary.Replace+len(p.Barriers) > 0 { // without these, Nodes and Before are the same graph
		_, err = p.Nodes().Layers()
	}
	if err != nil {
		b.Report(nil, "", diag.Diagnostics{diag.Errorf("The order of removals is impossible",
			"%s. Remove them in two applies.", err)})
		return nil
	}
	p.Layers = layers
	for _, ref := range slices.Sorted(maps.Keys(p.Images)) {
		if b.session.Options.FromRegistry != nil && b.session.Options.FromRegistry(ref) {
			p.Pulled = append(p.Pulled, ref)
		}
	}
	p.Outputs = b.outputs()
	p.Checks = b.checks()
	p.Entries = b.entries(p)
	p.ID = Fingerprint(p)
	return p
}

// edges lists which resource waits for which, sorted.
func (b assembler) edges() []Edge {
	edges := []Edge{}
	for _, r := range b.Manifest.Resources() {
		if b.steps[r.Address] == nil {
			continue
		}
		if s := b.steps[r.Address]; s.Change() != Valid {
			s.Notes = append(s.Notes, autoedge.Notes(r.Edges, b.circles[r.Address])...)
		}
		for _, e := range r.Edges {
			edges = append(edges, Edge{From: e.To, To: r.Address, Origin: string(e.Origin)})
		}
	}
	edges = append(edges, b.removalEdges()...)
	edges = append(edges, b.replaceEdges()...)
	edges = append(edges, b.createFirstEdges()...)
	slices.SortFunc(edges, compareEdges)
	return slices.CompactFunc(edges, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
}

// entries returns the fingerprint of the entry of every resource of the plan, also
// under the address that it had. Most were computed when the resource was decided,
// while other resources waited for answers.
func (b assembler) entries(p *Plan) map[string]string {
	pins := make(map[string]string, len(p.Resources))
	var addresses []string
	for addr := range p.Resources {
		if pin, known := b.pins[addr]; known {
			pins[addr] = pin
		} else {
			addresses = append(addresses, addr)
		}
	}
	for i, pin := range parallel.Map(addresses, b.Recorded.Pin) {
		pins[addresses[i]] = pin
	}
	for _, m := range p.Moves {
		pins[m.From] = b.Recorded.Pin(m.From)
	}
	return pins
}

// incomplete returns a plan of what could be decided, when something could not: it
// shows what else there is to do, and what else is wrong.
func (b assembler) incomplete() *Plan {
	for _, r := range b.Manifest.Resources() {
		if b.steps[r.Address] == nil && b.Wanted(r.Address) {
			b.steps[r.Address] = b.undecided(r)
		}
	}
	for _, addr := range b.Removed() {
		if entry := b.Prior.Resources[addr]; b.steps[addr] == nil && b.Wanted(addr) {
			b.steps[addr] = &Step{Type: entry.Type, Config: json.RawMessage("{}"), Reason: reason.New(reason.Failed, b.FirstError(addr)),
				Part: &change.ReadFailed{}}
		}
	}
	p := b.frame()
	p.Errored, p.Outputs = true, map[string]Output{}
	p.Layers, _ = p.Before().Layers() // a plan without an order can still be shown
	p.Summary = summarize(p.Resources)
	return p
}

// undecided returns the step of a resource about which nothing was decided.
func (b assembler) undecided(r *config.Resource) *Step {
	step := &Step{Type: r.TypeRef, Config: json.RawMessage("{}"), Source: r.Range.String(), Init: b.TypeOf(r.Address)}
	if b.failed[r.Address] {
		step.Part, step.Reason = &change.ReadFailed{}, reason.New(reason.Failed, b.FirstError(r.Address))
		return step
	}
	step.Part, step.Reason = &change.Deferred{}, reason.New(reason.EndedWithErrors)
	for _, addr := range subject.Predecessors(r) {
		if b.failed[addr] {
			step.Reason = reason.New(reason.Unknown, addr)
			break
		}
	}
	return step
}

// noteDependants notes at each resource that is destroyed or replaced which recorded
// dependants are only forgotten: their things stay, without what they depend on.
func (b assembler) noteDependants() {
	var forgotten []string
	for addr, left := range b.steps {
		if left.Change() == Forget && !left.Gone() {
			forgotten = append(forgotten, addr)
		}
	}
	slices.Sort(forgotten)
	for _, dependant := range forgotten {
		for _, addr := range b.Prior.Resources[dependant].Dependencies {
			if s := b.steps[addr]; s != nil && (s.Change() == Destroy || s.Change() == Replace) {
				s.Notes = append(s.Notes, reason.New(reason.DependantForgotten, dependant))
			}
		}
	}
}
