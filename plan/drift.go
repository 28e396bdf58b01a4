package plan

import (
	"context"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/base/jsondoc"
	"deployster/plan/artifacts"
	"deployster/plan/drift"
	"deployster/plan/findings"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// Drift asks, for every recorded resource, with its recorded config, whether it is still
// as recorded. The config is evaluated with the recorded states of other resources, so
// a resource that drifted does not make its dependants look drifted. Drift plans
// nothing, and an error of one resource does not stop the others.
func Drift(ctx context.Context, m *config.Manifest, prior state.Snapshot, p Prober, o Options) (*drift.Report, diag.Diagnostics) {
	l, diags := NewLooker(ctx, m, prior, p, o)
	if l == nil {
		return nil, diags
	}
	b, report := l.b, &drift.Report{Format: drift.Format, Resources: l.Unasked}
	resources, alone := map[string]*config.Resource{}, graph.Graph{} // no resource waits for the answer of another
	for _, r := range l.Resources {
		resources[r.Address], alone[r.Address] = r, nil
	}
	b.visit(ctx, resources, alone, func(r *config.Resource) bool {
		found := b.driftOf(ctx, r)
		b.decided.mu.Lock()
		defer b.decided.mu.Unlock()
		report.Resources[r.Address] = found
		return true
	})
	if ctx.Err() != nil {
		return nil, diag.Diagnostics{diag.Errorf("Interrupted", "Not everything was read. Nothing was changed.")}
	}
	report.Conclude()
	return report, b.Sorted()
}

// Looker asks single resources, any number of times, what Drift asks of all. Many goroutines
// may use it.
type Looker struct {
	b         drifter
	Unasked   map[string]*drift.Resource // resources that cannot be asked, and why
	Resources []*config.Resource         // the others
}

// NewLooker returns a Looker for what is recorded; nil = it cannot, and the diagnostics say why.
func NewLooker(ctx context.Context, m *config.Manifest, prior state.Snapshot, p Prober, o Options) (*Looker, diag.Diagnostics) {
	b := drifter{newBuilder(m, prior, p, o)}
	if b.Report(nil, "", b.Begin()); !b.Failed() {
		b.expandRecorded()
		b.Report(nil, "", b.Check())
	}
	if b.Failed() {
		return nil, b.Sorted()
	}
	asked := func(addr string) bool {
		_, known := b.Prior.Completed(addr)
		return known && b.Picked(addr)
	}
	b.Ask(ctx, asked)
	resources := slices.DeleteFunc(slices.Clone(b.Manifest.Resources()), func(r *config.Resource) bool { return !asked(r.Address) })
	return &Looker{b: b, Unasked: b.unasked(), Resources: resources}, b.Sorted()
}

// Type returns what the image of a resource answered in init; nil = the query failed.
func (l *Looker) Type(addr string) *protocol.Type { return l.b.Types.Type(addr) }

// Look asks one resource. Errors of earlier calls have no effect.
func (l *Looker) Look(ctx context.Context, r *config.Resource) *drift.Resource {
	one := *l.b.builder
	one.List = findings.New(l.b.Subject)
	return drifter{&one}.driftOf(ctx, r)
}

// Step returns the step with which a resource is asked, given its config.
func (l *Looker) Step(r *config.Resource, c config.Resolved) *Step { return l.b.newStep(r, c) }

// Changed says how the manifest's resource differs from what was applied, or "".
func (l *Looker) Changed(r *config.Resource) string {
	resolved, diags := l.b.Manifest.Config(r.Address, l.b.scope(r.Address, subject.Predecessors(r), l.b.recordedViews()))
	return l.b.otherwise(r, l.b.Prior.Resources[r.Address], resolved, diags)
}

// drifter is a builder that finds drift.
type drifter struct{ *builder }

// recordedViews returns a function that gives a resource as the state file has it.
func (d *decided) recordedViews() func(addr string) observe.View {
	return observe.RecordedViews(d.subject.Prior, func(string) observe.View { return observe.View{Partial: true} })
}

// expandRecorded expands the blocks whose instances follow from the recorded states.
// Other blocks are not expanded: nothing of them was applied.
func (b drifter) expandRecorded() {
	for {
		open := observe.OpenRecorded(b.Manifest, b.Prior)
		if len(open) == 0 {
			return
		}
		scope := config.States{}
		for _, p := range open {
			maps.Copy(scope, observe.States(p.Needs, b.recordedViews(), b.Prior))
		}
		next, diags := b.Manifest.Expand(open, scope)
		if diags.HasErrors() {
			return // a plan reports these errors
		}
		b.Manifest = next
		if b.Report(nil, "", b.Move()); b.Failed() {
			return
		}
		b.Narrow()
	}
}

// unasked returns the resources and entries about which no image is asked, with the reasons.
func (b drifter) unasked() map[string]*drift.Resource {
	list := map[string]*drift.Resource{}
	for addr, entry := range b.Prior.Resources {
		if !b.Picked(addr) {
			continue
		}
		if block := b.PendingAbove(addr); block != "" {
			list[addr] = &drift.Resource{Status: drift.Changed, Type: entry.Type,
				Reason: "the manifest has changed: what instances of " + block + " there are cannot be told from what is recorded"}
			continue
		}
		list[addr] = &drift.Resource{Status: drift.Undeclared, Type: entry.Type, Reason: "the manifest has changed: it declares this no more"}
		if entry.Incomplete() {
			list[addr].Reason = unfinished + ", and the manifest declares it no more"
		}
	}
	for _, r := range b.Manifest.Resources() {
		if _, known := b.Prior.Completed(r.Address); known || !b.Picked(r.Address) {
			continue
		}
		list[r.Address] = &drift.Resource{Status: drift.Unrecorded, Type: r.TypeRef, Reason: "it was never applied"}
		if _, incomplete := b.Prior.Resources[r.Address]; incomplete {
			list[r.Address].Reason = unfinished + ": a plan says how it is"
		}
	}
	return list
}

// driftOf asks one resource, unless the manifest declares it otherwise than it was
// applied.
func (b drifter) driftOf(ctx context.Context, r *config.Resource) *drift.Resource {
	entry := b.Prior.Resources[r.Address]
	out := &drift.Resource{Status: drift.Failed, Type: r.TypeRef, Reason: b.FirstError(r.Address)}
	if b.Types.Type(r.Address) == nil || out.Reason != "" {
		return out
	}
	look := b.recordedViews()
	resolved, diags := b.Manifest.Config(r.Address, b.scope(r.Address, subject.Predecessors(r), look))
	if out.Reason = b.otherwise(r, entry, resolved, diags); out.Reason != "" {
		out.Status = drift.Changed
		return out
	}
	if r.Publish != nil {
		out.Status, out.Reason = drift.None, drift.NotAsked
		return out
	}
	step := b.newStep(r, resolved)
	b.secret(step)
	q := b.query(r.Address, step, entry)
	o := b.observe(ctx, &q, &entry, observe.Scope{Prior: b.Prior, View: look})
	out.Inputs = changedInputs(b.builder, r.Address, step, q.Input)
	if o.Err != nil {
		b.Report(r, "", b.plugs.Blame(diag.From("Cannot read the state", o.Err), o.Err, step.Init))
		b.progress(Failed{r.Address})
		out.Reason = b.FirstError(r.Address)
		return out
	}
	step.found(b.builder, o)
	if step.Change == Valid {
		never := func(string) bool { return false }
		out.Inputs = inputs.Refresh(refresh.Owed(r.Subscribes, entry, b.Prior, never), b.Prior, never)
	}
	out.Reasons = drift.SafeReasons(step.Reasons, step.Config, step.Sensitive, step.Hidden)
	out.Compare(step.State, step.Stale, entry.State, slices.Concat(step.Hidden, entry.Sensitive.State))
	b.progress(Decided{r.Address, step.Shown()})
	return out
}

// otherwise says how the manifest's resource differs from what was applied, or "".
func (b drifter) otherwise(r *config.Resource, entry state.Entry, now config.Resolved, diags diag.Diagnostics) string {
	switch {
	case diags.HasErrors():
		return "the manifest has changed: with what is recorded its config cannot be worked out"
	case len(now.Unknown) > 0:
		return "the manifest has changed: its config takes values from " + strings.Join(slices.Compact(slices.Sorted(maps.Values(now.Unknown))),
			", ") + ", which is not recorded"
	case r.Publish != nil && artifacts.SamePut(entry.Config, now.Value, now.Sensitive):
		return ""
	case r.Publish == nil && b.TypeOf(r.Address).Digest != entry.Digest:
		return "its type is another image than the one that was applied"
	case !jsondoc.Same(now.Value, observe.Completed(b.prober, b.TypeOf(r.Address), entry, now.Value).Config):
		return "the manifest has changed: its config is not the one that was applied (" +
			jsondoc.EditWords(observe.Edits(entry.Config, now.Value, entry.Sensitive.Config, now.Sensitive)) + ")"
	}
	return ""
}
