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
	"deployster/plan/decide"
	"deployster/plan/exclusive"
	"deployster/plan/lookup"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state/moves"
)

// assembly puts a plan together from what was decided.
type assembly struct {
	session   *query.Session
	subject   *subject.Subject
	decisions *decide.Decisions
	steps     map[string]*Step
}

func assemblyOf(x *query.Session, d *decide.Decisions) assembly {
	return assembly{session: x, subject: x.Subject, decisions: d, steps: d.Steps()}
}

// whole puts a whole plan together. cycles are the resources for which an automatic edge
// would close a cycle, by address.
func whole(ctx context.Context, x *query.Session, d *decide.Decisions, cycles map[string][]string, sets exclusive.Found) *Plan {
	a := assemblyOf(x, d)
	a.noteDependants()
	a.noteAutoEdges(cycles)
	p := a.frame()
	for x.Findings.Errors() == 0 {
		held := removals{session: x, decisions: a.decisions, plan: p}.order(ctx)
		if len(held) == 0 {
			break
		}
		a = assemblyOf(x, a.decisions.Hold(held))
		p = a.frame()
	}
	p.Exclusive, p.Barriers = sets.Sets, append(p.Barriers, sets.Waits...)
	p.Summary = summarize(p)
	for _, r := range a.subject.Manifest.Resources() {
		if d := artifacts.FeedsItself(r, p.Artifacts); d != nil {
			x.Findings.Report(r, "", diag.Diagnostics{d})
		}
	}
	layers, err := p.Before().Layers()
	if err == nil && p.Summary.Replace+len(p.Barriers) > 0 { // without these, Nodes and Before are the same graph
		_, err = p.Nodes().Layers()
	}
	if err != nil {
		x.Findings.Report(nil, "", diag.Diagnostics{diag.Errorf("The order of removals is impossible",
			"%s. Remove them in two applies.", err)})
		return nil
	}
	p.Layers = layers
	final := a.decisions.Final()
	looked := lookup.Find(ctx, x, final)
	p.Images = a.images(p) // also those of what was looked up
	for _, ref := range slices.Sorted(maps.Keys(p.Images)) {
		if x.Options.FromRegistry != nil && x.Options.FromRegistry(ref) {
			p.Pulled = append(p.Pulled, ref)
		}
	}
	p.Outputs, p.Operations = a.outputs(final), a.scheduled()
	checks, diags := a.subject.Manifest.Checks(final, looked)
	x.Findings.Report(nil, "", diags)
	p.Checks = checks
	if !x.Options.OnlyShown {
		p.Entries = a.entries(p)
		p.ID = Fingerprint(p)
	}
	return p
}

// frame returns a plan with the steps.
func (a assembly) frame() *Plan {
	m, s, o := a.subject.Manifest, a.subject, a.session.Options
	// The plan's id covers the time, which is fine enough that no two plans have the same id.
	p := &Plan{Format: Format, Deployster: o.Version, Created: o.Now.UTC().Truncate(time.Microsecond),
		Lineage: s.Prior.Lineage, Serial: s.Prior.Serial, Workspace: o.Workspace,
		Resources: a.steps, Moves: a.moves(), Selection: s.Selection,
		LeftOut: a.leftOut(), Unreached: a.unreached(), Later: a.later(), Transfers: transfers(s.Prior),
		Variables: m.Variables().Values(), SensitiveVariables: m.Variables().Sensitive(), VariableOrigins: m.Variables().Origins(),
		Sources: m.Sources(), Edges: a.edges()}
	p.Remote = p.Sources.Remote
	p.Images = a.images(p)
	p.Instances, p.Artifacts, p.Hosts = p.Sources.Instances, o.Artifacts.Found(), o.Hosts
	for addr, step := range p.Resources {
		if step.Settings.Host == nil {
			p.Rootless = o.Rootless
		}
		if at, number := moves.RecordedAt(addr); number > 0 {
			step.Deposed = at
		} else {
			step.MovedFrom, step.MovedWhy = s.MovedFrom(addr)
		}
	}
	return p
}

// images returns the digests of the images that a plan has run, and of those that a later round of its apply runs.
func (a assembly) images(p *Plan) map[string]string {
	run := a.session.Prober.Images()
	if !p.Continues() {
		return run
	}
	all := map[string]string{}
	maps.Copy(all, a.session.Options.Pins)
	maps.Copy(all, run)
	return all
}

// moves returns the moves of the resources that the plan covers: what the plan
// leaves out keeps its address too.
func (a assembly) moves() []moves.Move {
	return slices.DeleteFunc(slices.Clone(a.subject.Moves), func(m moves.Move) bool { return a.steps[m.To] == nil })
}

// entries returns the fingerprint of the entry of every resource of the plan, also
// under the address that it had. Most were computed when the resource was decided,
// while other resources waited for answers.
func (a assembly) entries(p *Plan) map[string]string {
	pins := make(map[string]string, len(p.Resources))
	var addresses []string
	for addr := range p.Resources {
		if pin, known := a.decisions.Pin(addr); known {
			pins[addr] = pin
		} else {
			addresses = append(addresses, addr)
		}
	}
	for i, pin := range parallel.Map(addresses, a.subject.Recorded.Pin) {
		pins[addresses[i]] = pin
	}
	for _, m := range p.Moves {
		pins[m.From] = a.subject.Recorded.Pin(m.From)
	}
	return pins
}

// incomplete returns a plan of what could be decided, when something could not: it
// shows what else there is to do, and what else is wrong.
func incomplete(x *query.Session, d *decide.Decisions, cycles map[string][]string) *Plan {
	a := assemblyOf(x, d)
	a.steps = maps.Clone(a.steps)
	for _, r := range a.subject.Manifest.Resources() {
		if a.steps[r.Address] == nil && a.subject.Wanted(r.Address) {
			a.steps[r.Address] = a.undecided(r)
		}
	}
	for _, addr := range a.subject.Removed() {
		if entry := a.subject.Prior.Resources[addr]; a.steps[addr] == nil && a.subject.Wanted(addr) {
			a.steps[addr] = &Step{Type: entry.Type, Config: json.RawMessage("{}"), Part: &change.ReadFailed{},
				Reason: reason.New(reason.Failed, x.Findings.FirstError(addr))}
		}
	}
	a.noteAutoEdges(cycles)
	p := a.frame()
	p.Errored, p.Outputs = true, map[string]Output{}
	p.Layers, _ = p.Before().Layers() // a plan without an order can still be shown
	p.Summary = summarize(p)
	return p
}

// undecided returns the step of a resource about which nothing was decided.
func (a assembly) undecided(r *config.Resource) *Step {
	step := &Step{Type: r.TypeRef, Config: json.RawMessage("{}"), Source: r.Range.String(), Init: a.session.Types.TypeOf(r.Address)}
	if a.decisions.Failed(r.Address) {
		step.Part, step.Reason = &change.ReadFailed{}, reason.New(reason.Failed, a.session.Findings.FirstError(r.Address))
		return step
	}
	step.Part, step.Reason = &change.Deferred{}, reason.New(reason.EndedWithErrors)
	for _, addr := range subject.Predecessors(r) {
		if a.decisions.Failed(addr) {
			step.Reason = reason.New(reason.Unknown, addr)
			break
		}
	}
	return step
}

// noteDependants notes at each resource that is destroyed or replaced which recorded
// dependants are only forgotten: their objects stay, without what they depend on.
func (a assembly) noteDependants() {
	var forgotten []string
	for addr, left := range a.steps {
		if left.Change() == Forget && !left.Gone() {
			forgotten = append(forgotten, addr)
		}
	}
	slices.Sort(forgotten)
	for _, dependant := range forgotten {
		for _, addr := range a.subject.Prior.Resources[dependant].Dependencies {
			if s := a.steps[addr]; s != nil && (s.Change() == Destroy || s.Change() == Replace) {
				s.Notes = append(s.Notes, reason.New(reason.DependantForgotten, dependant))
			}
		}
	}
}

// noteAutoEdges notes at each changed resource what it waits for because its type declares
// it, and what not because that would close a cycle.
func (a assembly) noteAutoEdges(cycles map[string][]string) {
	for _, r := range a.subject.Manifest.Resources() {
		if s := a.steps[r.Address]; s != nil && s.Change() != Valid {
			s.Notes = append(s.Notes, autoedge.Notes(r.Edges, cycles[r.Address])...)
		}
	}
}
