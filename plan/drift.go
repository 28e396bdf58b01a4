package plan

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

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
	x, report := l.x, &drift.Report{Format: drift.Format, Resources: l.Unasked}
	resources, alone := map[string]*config.Resource{}, graph.Graph{} // no resource waits for the answer of another
	for _, r := range l.Resources {
		resources[r.Address], alone[r.Address] = r, nil
	}
	var mu sync.Mutex // guards the report: resources are queried in parallel
	x.visit(ctx, resources, alone, func(r *config.Resource) bool {
		found := l.driftOf(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		report.Resources[r.Address] = found
		return true
	})
	if ctx.Err() != nil {
		return nil, diag.Diagnostics{diag.Errorf("Interrupted", "Not everything was read. Nothing was changed.")}
	}
	report.Conclude()
	return report, x.findings.Sorted()
}

// Looker asks single resources, any number of times, what Drift asks of all. Many goroutines
// may use it.
type Looker struct {
	x         *observer
	Unasked   map[string]*drift.Resource // resources that cannot be asked, and why
	Resources []*config.Resource         // the others
}

// NewLooker returns a Looker for what is recorded; nil = it cannot, and the diagnostics say why.
func NewLooker(ctx context.Context, m *config.Manifest, prior state.Snapshot, p Prober, o Options) (*Looker, diag.Diagnostics) {
	l := &Looker{x: newObserver(m, prior, p, o)}
	s, f := l.x.subject, l.x.findings
	if f.Report(nil, "", s.Begin()); !f.Failed() {
		l.expandRecorded()
		f.Report(nil, "", s.Check())
	}
	if f.Failed() {
		return nil, f.Sorted()
	}
	asked := func(addr string) bool {
		_, known := s.Prior.Completed(addr)
		return known && s.Picked(addr)
	}
	l.x.types.Ask(ctx, asked)
	l.Resources = slices.DeleteFunc(slices.Clone(s.Manifest.Resources()), func(r *config.Resource) bool { return !asked(r.Address) })
	l.Unasked = l.unasked()
	return l, f.Sorted()
}

// Type returns what the image of a resource answered in init; nil = the query failed.
func (l *Looker) Type(addr string) *protocol.Type { return l.x.types.Type(addr) }

// Look asks one resource. Errors of earlier calls have no effect.
func (l *Looker) Look(ctx context.Context, r *config.Resource) *drift.Resource {
	one := *l.x
	one.findings = findings.New(l.x.subject)
	return (&Looker{x: &one}).driftOf(ctx, r)
}

// Step returns the step with which a resource is asked, given its config.
func (l *Looker) Step(r *config.Resource, c config.Resolved) *Step { return l.x.newStep(r, c) }

// Changed says how the manifest's resource differs from what was applied, or "".
func (l *Looker) Changed(r *config.Resource) string {
	resolved, diags := l.recordedConfig(r)
	return l.otherwise(r, l.x.subject.Prior.Resources[r.Address], resolved, diags)
}

// recordedConfig evaluates the config of a resource with the recorded states of others.
func (l *Looker) recordedConfig(r *config.Resource) (config.Resolved, diag.Diagnostics) {
	prior := l.x.subject.Prior
	return l.x.subject.Manifest.Config(r.Address, observe.States(append(subject.Predecessors(r), r.Address), observe.Recorded(prior), prior))
}

// expandRecorded expands the blocks whose instances follow from the recorded states.
// Other blocks are not expanded: nothing of them was applied.
func (l *Looker) expandRecorded() {
	for {
		open := observe.OpenRecorded(l.x.subject.Manifest, l.x.subject.Prior)
		if len(open) == 0 {
			return
		}
		scope := config.States{}
		for _, p := range open {
			maps.Copy(scope, observe.States(p.Needs, observe.Recorded(l.x.subject.Prior), l.x.subject.Prior))
		}
		next, diags := l.x.subject.Manifest.Expand(open, scope)
		if diags.HasErrors() {
			return // a plan reports these errors
		}
		l.x.subject.Manifest = next
		if l.x.findings.Report(nil, "", l.x.subject.Move()); l.x.findings.Failed() {
			return
		}
		l.x.subject.Narrow()
	}
}

// unasked returns the resources and entries about which no image is asked, with the reasons.
func (l *Looker) unasked() map[string]*drift.Resource {
	list := map[string]*drift.Resource{}
	for addr, entry := range l.x.subject.Prior.Resources {
		if !l.x.subject.Picked(addr) {
			continue
		}
		if block := l.x.subject.PendingAbove(addr); block != "" {
			list[addr] = &drift.Resource{Status: drift.Changed, Type: entry.Type,
				Reason: "the manifest has changed: what instances of " + block + " exist does not follow from the records"}
			continue
		}
		list[addr] = &drift.Resource{Status: drift.Undeclared, Type: entry.Type, Reason: "the manifest has changed: it declares this no more"}
		if entry.Incomplete() {
			list[addr].Reason = unfinished + ", and the manifest declares it no more"
		}
	}
	for _, r := range l.x.subject.Manifest.Resources() {
		if _, known := l.x.subject.Prior.Completed(r.Address); known || !l.x.subject.Picked(r.Address) {
			continue
		}
		list[r.Address] = &drift.Resource{Status: drift.Unrecorded, Type: r.TypeRef, Reason: "it was never applied"}
		if _, incomplete := l.x.subject.Prior.Resources[r.Address]; incomplete {
			list[r.Address].Reason = unfinished + ": a plan reads its state"
		}
	}
	return list
}

// driftOf asks one resource, unless the manifest declares it otherwise than it was
// applied.
func (l *Looker) driftOf(ctx context.Context, r *config.Resource) *drift.Resource {
	entry := l.x.subject.Prior.Resources[r.Address]
	out := &drift.Resource{Status: drift.Failed, Type: r.TypeRef, Reason: l.x.findings.FirstError(r.Address)}
	if l.x.types.Type(r.Address) == nil || out.Reason != "" {
		return out
	}
	resolved, diags := l.recordedConfig(r)
	if out.Reason = l.otherwise(r, entry, resolved, diags); out.Reason != "" {
		out.Status = drift.Changed
		return out
	}
	if r.Publish != nil {
		out.Status, out.Reason = drift.None, drift.NotAsked
		return out
	}
	step := l.x.newStep(r, resolved)
	l.x.secret(step)
	q := l.x.query(r.Address, step, entry)
	o := l.x.observe(ctx, &q, &entry, observe.Scope{Prior: l.x.subject.Prior, View: observe.Recorded(l.x.subject.Prior)})
	out.Inputs = l.x.changedInputs(r.Address, step, q.Input)
	if o.Err != nil {
		l.x.findings.Report(r, "", l.x.plugs.Blame(diag.From("Cannot read the state", o.Err), o.Err, step.Init))
		l.x.progress(Failed{r.Address})
		out.Reason = l.x.findings.FirstError(r.Address)
		return out
	}
	step.Take(o)
	if step.Change() == Valid {
		never := func(string) bool { return false }
		out.Inputs = inputs.Refresh(refresh.Owed(r.Subscribes, entry, l.x.subject.Prior, never), l.x.subject.Prior, never)
	}
	out.Reasons = drift.SafeReasons(step.Answer().Reasons, step.Config, step.Sensitive, step.Answer().Hidden)
	out.Compare(step.Answer().State, step.Answer().Stale, entry.State, slices.Concat(step.Answer().Hidden, entry.Sensitive.State))
	l.x.progress(Decided{r.Address, step.Shown()})
	return out
}

// otherwise says how the manifest's resource differs from what was applied, or "".
func (l *Looker) otherwise(r *config.Resource, entry state.Entry, now config.Resolved, diags diag.Diagnostics) string {
	switch {
	case diags.HasErrors():
		return "the manifest has changed: with what is recorded its config cannot be worked out"
	case len(now.Unknown) > 0:
		return "the manifest has changed: its config takes values from " + strings.Join(slices.Compact(slices.Sorted(maps.Values(now.Unknown))),
			", ") + ", which is not recorded"
	case r.Publish != nil && artifacts.SamePut(entry.Config, now.Value, now.Sensitive):
		return ""
	case r.Publish == nil && l.x.types.TypeOf(r.Address).Digest != entry.Digest:
		return "its type is another image than the one that was applied"
	case !jsondoc.Same(now.Value, observe.Completed(l.x.prober, l.x.types.TypeOf(r.Address), entry, now.Value).Config):
		return "the manifest has changed: its config is not the one that was applied (" +
			jsondoc.EditWords(observe.Edits(entry.Config, now.Value, entry.Sensitive.Config, now.Sensitive)) + ")"
	}
	return ""
}
