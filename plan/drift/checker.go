package drift

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
	"deployster/plan/change"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// Find queries every recorded resource, with its recorded config, and reports whether it
// is still as recorded. The config is evaluated with the recorded states of other resources, so
// a resource that drifted does not make its dependants appear drifted. Find plans
// nothing, and an error of one resource does not stop the others.
func Find(ctx context.Context, m *config.Manifest, prior state.Snapshot, p query.Prober, o query.Options) (*Report, diag.Diagnostics) {
	k, diags := NewChecker(ctx, m, prior, p, o)
	if k == nil {
		return nil, diags
	}
	report := &Report{Format: Format, Resources: k.Skipped}
	resources, alone := map[string]*config.Resource{}, graph.Graph{} // no resource waits for the answer of another
	for _, r := range k.Resources {
		resources[r.Address], alone[r.Address] = r, nil
	}
	var mu sync.Mutex // guards the report: resources are queried in parallel
	k.session.Visit(ctx, resources, alone, func(r *config.Resource) bool {
		found := k.driftOf(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		report.Resources[r.Address] = found
		return true
	})
	if ctx.Err() != nil {
		return nil, diag.Diagnostics{diag.Errorf("Interrupted", "Not everything was read. Nothing was changed.")}
	}
	report.Conclude()
	return report, k.session.Findings.Sorted()
}

// Checker checks single resources, any number of times, as Find checks all. Many goroutines
// may use it.
type Checker struct {
	session   *query.Session
	Skipped   map[string]*Resource // resources that cannot be queried, and why
	Resources []*config.Resource   // the others
}

// NewChecker returns a Checker for what is recorded; nil = it cannot, and the diagnostics report why.
func NewChecker(ctx context.Context, m *config.Manifest, prior state.Snapshot, p query.Prober, o query.Options) (*Checker,
	diag.Diagnostics) {
	k := &Checker{session: query.New(m, prior, p, o)}
	s, f := k.session.Subject, k.session.Findings
	if f.Report(nil, "", s.Begin()); !f.Failed() {
		k.expandRecorded()
		f.Report(nil, "", s.Check())
	}
	if f.Failed() {
		return nil, f.Sorted()
	}
	checked := func(addr string) bool {
		_, known := s.Prior.Completed(addr)
		return known && s.Named(addr)
	}
	k.session.Types.Query(ctx, checked)
	declared := slices.Clone(s.Manifest.Resources())
	k.Resources = slices.DeleteFunc(declared, func(r *config.Resource) bool { return !checked(r.Address) })
	k.Skipped = k.skipped()
	return k, f.Sorted()
}

// Type returns what the image of a resource answered in init; nil = the query failed.
func (k *Checker) Type(addr string) *protocol.Type { return k.session.Types.Type(addr) }

// Check queries one resource. Errors of earlier calls have no effect.
func (k *Checker) Check(ctx context.Context, r *config.Resource) *Resource {
	return (&Checker{session: k.session.Apart()}).driftOf(ctx, r)
}

// Step returns the step with which a resource is queried, given its config.
func (k *Checker) Step(ctx context.Context, r *config.Resource, c config.Resolved) *change.Step {
	return k.session.NewStep(ctx, r, c)
}

// Changed reports how the manifest's resource differs from what was applied, or "".
func (k *Checker) Changed(r *config.Resource) string {
	resolved, diags := k.recordedConfig(r)
	return k.changedReason(r, k.session.Subject.Prior.Resources[r.Address], resolved, diags)
}

// recordedConfig evaluates the config of a resource with the recorded states of others.
func (k *Checker) recordedConfig(r *config.Resource) (config.Resolved, diag.Diagnostics) {
	prior := k.session.Subject.Prior
	scope := observe.States(append(subject.Predecessors(r), r.Address), observe.Recorded(prior), prior)
	return k.session.Subject.Manifest.Config(r.Address, scope)
}

// expandRecorded expands the blocks whose instances follow from the recorded states.
// Other blocks are not expanded: nothing of them was applied.
func (k *Checker) expandRecorded() {
	for {
		open := observe.OpenRecorded(k.session.Subject.Manifest, k.session.Subject.Prior)
		if len(open) == 0 {
			return
		}
		scope := config.States{}
		for _, p := range open {
			maps.Copy(scope, observe.States(p.Needs, observe.Recorded(k.session.Subject.Prior), k.session.Subject.Prior))
		}
		next, unknown, diags := k.session.Subject.Manifest.Expand(open, scope)
		if diags.HasErrors() || len(unknown) > 0 {
			return // a plan reports these errors
		}
		k.session.Subject.Manifest = next
		if k.session.Findings.Report(nil, "", k.session.Subject.Move()); k.session.Findings.Failed() {
			return
		}
		k.session.Subject.Narrow()
	}
}

// skipped returns the resources and entries about which no image is queried, with the reasons.
func (k *Checker) skipped() map[string]*Resource {
	list := map[string]*Resource{}
	for addr, entry := range k.session.Subject.Prior.Resources {
		if !k.session.Subject.Named(addr) {
			continue
		}
		if block := k.session.Subject.PendingAbove(addr); block != "" {
			list[addr] = &Resource{Status: Changed, Type: entry.Type,
				Reason: "the manifest has changed: what instances of " + block + " exist does not follow from the records"}
			continue
		}
		list[addr] = &Resource{Status: Undeclared, Type: entry.Type, Reason: "the manifest has changed: it declares this no more"}
		if entry.Incomplete() {
			list[addr].Reason = reason.New(reason.Unfinished).Words() + ", and the manifest declares it no more"
		}
	}
	for _, r := range k.session.Subject.Manifest.Resources() {
		if _, known := k.session.Subject.Prior.Completed(r.Address); known || !k.session.Subject.Named(r.Address) {
			continue
		}
		list[r.Address] = &Resource{Status: Unrecorded, Type: r.TypeRef, Reason: "it was never applied"}
		if _, incomplete := k.session.Subject.Prior.Resources[r.Address]; incomplete {
			list[r.Address].Reason = reason.New(reason.Unfinished).Words() + ": a plan reads its state"
		}
	}
	return list
}

// driftOf queries one resource, unless the manifest declares it otherwise than it was
// applied.
func (k *Checker) driftOf(ctx context.Context, r *config.Resource) *Resource {
	entry := k.session.Subject.Prior.Resources[r.Address]
	out := &Resource{Status: Failed, Type: r.TypeRef, Reason: k.session.Findings.FirstError(r.Address)}
	if k.session.Types.Type(r.Address) == nil || out.Reason != "" {
		return out
	}
	resolved, diags := k.recordedConfig(r)
	if out.Reason = k.changedReason(r, entry, resolved, diags); out.Reason != "" {
		out.Status = Changed
		return out
	}
	if r.Publish != nil {
		out.Status, out.Reason = None, NotAsked
		return out
	}
	step := k.session.NewStep(ctx, r, resolved)
	k.session.Secret(step)
	q := k.session.Query(r.Address, step, entry)
	o := k.session.Observe(ctx, &q, &entry, observe.Scope{Prior: k.session.Subject.Prior, View: observe.Recorded(k.session.Subject.Prior)})
	out.Inputs = k.session.ChangedInputs(r.Address, step, q.Input)
	if o.Err != nil {
		k.session.Findings.Report(r, "", k.session.Plugs.Blame(diag.From("Cannot read the state", o.Err), o.Err, step.Init))
		k.session.Progress(query.Failed{Address: r.Address})
		out.Reason = k.session.Findings.FirstError(r.Address)
		return out
	}
	step.Take(o)
	if step.Change() == observe.Valid {
		never := func(string) bool { return false }
		out.Inputs = inputs.Refresh(refresh.Owed(r.Subscribes, entry, k.session.Subject.Prior, never), k.session.Subject.Prior, never)
	}
	out.Reasons = SafeReasons(step.Answer().Reasons, step.Config, step.Sensitive, step.Answer().Hidden)
	out.Compare(step.Answer().State, step.Answer().Stale, entry.State, slices.Concat(step.Answer().Hidden, entry.Sensitive.State))
	k.session.Progress(query.Decided{Address: r.Address, Change: step.Shown()})
	return out
}

// changedReason reports how the manifest's resource differs from what was applied, or "".
func (k *Checker) changedReason(r *config.Resource, entry state.Entry, now config.Resolved, diags diag.Diagnostics) string {
	switch {
	case diags.HasErrors():
		return "the manifest has changed: with what is recorded its config cannot be worked out"
	case len(now.Unknown) > 0:
		return "the manifest has changed: its config takes values from " +
			strings.Join(slices.Compact(slices.Sorted(maps.Values(now.Unknown))),
				", ") + ", which is not recorded"
	case r.Publish != nil && artifacts.SamePut(entry.Config, now.Value, now.Sensitive):
		return ""
	case r.Publish == nil && k.session.Types.TypeOf(r.Address).Digest != entry.Digest:
		return "its type is another image than the one that was applied"
	case !jsondoc.Same(now.Value, observe.Completed(k.session.Prober, k.session.Types.TypeOf(r.Address), entry, now.Value).Config):
		return "the manifest has changed: its config is not the one that was applied (" +
			jsondoc.EditWords(observe.Edits(entry.Config, now.Value, entry.Sensitive.Config, now.Sensitive)) + ")"
	}
	return ""
}
