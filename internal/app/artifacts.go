package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"deployster/config"
	front "deployster/internal/app/artifacts"
	"deployster/internal/app/images"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	artifactimages "deployster/internal/runtime/artifact/images"
	"deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
)

// artifactWork is what a command needs to work with artifacts.
type artifactWork struct {
	client   artifact.Client
	store    artifact.Store
	resolver *artifacts.Resolver // nil: a saved plan has pinned all versions
	front    *front.Front
}

// openArtifacts opens the store of artifacts, once for the command.
func openArtifacts(e *Engine, types *typeclient.Client) (artifact.Client, artifact.Store) {
	client := artifactimages.New(artifactimages.Options{Types: types, Inspector: e.runtime})
	if e.files == nil {
		e.files = front.Telling{Fetched: func(h artifact.Held) { e.Events(events.OfFetched(h)) },
			Store: store.New(store.Options{Dir: e.runtime.Artifacts(), Client: client, Command: "deployster", Max: e.options.MaxArtifacts,
				Hide: e.Secrets.Hide})}
	}
	return client, e.files
}

// resolveArtifacts finds the versions of the artifacts that the chosen resources need, and
// returns the manifest with these versions.
func resolveArtifacts(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot, types *typeclient.Client,
	chosen func(string) bool, o plan.Options) (*artifactWork, *config.Manifest, error) {
	lock, err := images.ReadLock(e.Dir)
	if err != nil {
		return nil, nil, err
	}
	w := &artifactWork{}
	w.client, w.store = openArtifacts(e, types)
	ro := artifacts.Options{Client: w.client, Store: w.store, Declared: m.Artifacts(), Secrets: m.Secrets(), Recorded: prior.Artifacts,
		UseRecorded: o.Selection.NoRefresh || o.Selection.RefreshOnly, Checked: func(p artifacts.Pin) { e.Events(events.OfChecked(p)) }}
	if lock != nil {
		ro.Lock = lock.Artifacts
	}
	w.resolver = artifacts.New(ro)
	w.front = front.New(front.Options{Types: types, Client: w.client, Store: w.store, Manifest: m, Prior: prior, Pins: w.resolver.Pins,
		Again: o.Selection.Replace, Warn: e.Warn, Withheld: e.runtime.Withheld})
	names, err := front.Wanted(m, chosen, !o.Selection.Partial())
	if err == nil {
		err = w.resolver.All(ctx, names, o.Parallelism)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return w, m, nil
	}
	m, diags := m.WithArtifacts(artifacts.Values(w.resolver.Pins()))
	return w, m, diags.Err()
}

// answering returns who answers the queries of a plan, and the manifest with the versions of
// artifacts. chosen reports whether an address is part of the plan; nil = the selection decides.
func answering(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot, types *typeclient.Client,
	chosen func(string) bool, o *plan.Options) (*answerers, *config.Manifest, error) {
	if !front.Concern(m, prior) {
		return &answerers{Types: types}, m, nil
	}
	if chosen == nil {
		var diags diag.Diagnostics
		if chosen, diags = subject.Chosen(m, prior, o.Selection); diags.HasErrors() {
			return nil, nil, diags
		}
	}
	w, m, err := resolveArtifacts(ctx, e, m, prior, types, chosen, *o)
	if err != nil {
		return nil, nil, e.Secrets.Diagnostics(diag.From("Cannot find the versions of artifacts", err))
	}
	o.Artifacts = w.resolver
	return &answerers{Types: w.front, artifacts: w}, m, nil
}

// remembering is answering with the recorded versions of artifacts.
func remembering(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot, types *typeclient.Client,
	o *plan.Options) (*answerers, *config.Manifest, error) {
	believing := *o
	believing.Selection.NoRefresh = true
	known, addresses := recorded(prior), slices.Collect(maps.Keys(prior.Resources))
	chosen := func(addr string) bool { // true also for a block with recorded instances
		return known(addr) || slices.ContainsFunc(addresses, func(a string) bool { return moves.Covers(addr, a) })
	}
	asked, m, err := answering(ctx, e, m, prior, types, chosen, &believing)
	o.Artifacts = believing.Artifacts
	return asked, m, err
}

func recorded(prior state.Snapshot) func(string) bool {
	return func(addr string) bool { _, known := prior.Completed(addr); return known }
}

// pinnedArtifacts returns the artifactWork of a saved plan.
func pinnedArtifacts(e *Engine, m *config.Manifest, prior state.Snapshot, types *typeclient.Client, p *plan.Plan) *artifactWork {
	w := &artifactWork{}
	w.client, w.store = openArtifacts(e, types)
	w.front = front.New(front.Options{Types: types, Client: w.client, Store: w.store, Manifest: m, Prior: prior, Warn: e.Warn,
		Withheld: e.runtime.Withheld, Again: putAgain(p, prior), Pins: func() map[string]artifacts.Pin { return p.Artifacts }})
	return w
}

// putAgain returns the publishes that -replace selects, without those that a run of this
// plan that ended unexpectedly has put already.
func putAgain(p *plan.Plan, prior state.Snapshot) []string {
	died, _ := prior.Died(p.ID)
	return slices.DeleteFunc(slices.Clone(p.Selection.Replace), func(addr string) bool { return died.Done[addr] != "" })
}

// begin records what the run of a plan needs to obtain its files again.
func (w *artifactWork) begin(j *state.Journal, p *plan.Plan) error {
	w.front.Record(j)
	pins := map[string]state.Pin{}
	for _, pin := range p.Artifacts {
		pins[pin.Key] = pin.Pin
	}
	if len(pins) == 0 {
		return nil
	}
	return j.Pins(pins)
}

// end records the versions in use, after a run without errors. Artifacts outside the plan
// keep their recorded versions.
func (w *artifactWork) end(j *state.Journal, m *config.Manifest, prior state.Snapshot, p *plan.Plan, now time.Time) error {
	use := map[string]state.Artifact{}
	if p.Partial() {
		maps.Copy(use, prior.Artifacts)
	}
	for _, a := range m.Artifacts() {
		if recorded, ok := prior.Artifacts[a.Name]; ok {
			use[a.Name] = recorded
		}
	}
	for name, pin := range p.Artifacts {
		use[name] = pin.Recorded(now)
	}
	if len(use)+len(prior.Artifacts) == 0 {
		return nil
	}
	return j.Artifacts(use)
}

// closeArtifacts closes the store of artifacts, which releases the files that it holds.
func closeArtifacts(e *Engine) {
	if e.files == nil {
		return
	}
	if err := e.files.Close(); err != nil {
		for _, d := range diag.From("The store of artifacts", err) {
			d.Severity = diag.Warning
			e.Warn(d)
		}
	}
	e.files = nil
}
