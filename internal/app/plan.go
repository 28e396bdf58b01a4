package app

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/app/approval"
	front "deployster/internal/app/artifacts"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/explain"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
)

// DefaultParallelism is how many resources are worked on concurrently.
const DefaultParallelism = 10

// inWorkers is the same for resources whose type has a worker: a call in flight there
// needs no container, and journal entries that are written together are synced once.
const inWorkers = 80

// inWorkersStored is the same in an apply that records in a remote store: each write waits for an
// answer of the store, and the journal entries that come meanwhile are written together next.
const inWorkersStored = 240

// PlanOptions say what to plan, and what to do with the plan.
type PlanOptions struct {
	workspace.Inputs
	Selection   plan.Selection
	Parallelism int      // how many resources are worked on concurrently; 0 = DefaultParallelism, and more in workers
	Explain     []string // addresses whose changes are explained instead of showing the plan
	Out         string   // the file to save the plan in; "" = none
	HostOptions
	SignKey  *string // the file with the signing key
	AnyState bool    // the signed plan may begin any state
	Approve  *string // other-path or nothing: it changes what is planned
}

// limits returns how many resources are worked on concurrently, and how many of those
// that have a worker; 0 = the same number.
func limits(parallelism int) (resources, workers int) {
	if parallelism == 0 {
		return DefaultParallelism, inWorkers
	}
	return parallelism, 0
}

// applyLimits is limits for an apply that records in a place.
func applyLimits(parallelism int, place state.Place) (resources, workers int) {
	resources, workers = limits(parallelism)
	if _, stored := place.(*state.Remote); stored && workers > 0 {
		workers = inWorkersStored
	}
	return resources, workers
}

// Plan queries the state of every resource, and returns what an apply would do.
func (e *Engine) Plan(ctx context.Context, o PlanOptions) (*plan.Plan, error) {
	var err error
	if o.Selection.OtherPath, err = approval.OtherPathOnly(o.Approve); err != nil {
		return nil, err
	}
	key, err := e.SigningKey(o.SignKey, o.Out, o.AnyState)
	if err != nil {
		return nil, err
	}
	if o.Out != "" {
		if err := e.CheckPlanFile(o.Out); err != nil {
			return nil, err
		}
	}
	m, place, err := e.subject(ctx, o)
	if err != nil {
		return nil, err
	}
	held, err := e.HoldState(ctx, place, "plan")
	if err != nil {
		return nil, err
	}
	if !e.NoLock {
		defer func() { _ = held.Close() }() // the lock goes with the process anyway
	}
	if err := e.Keys.Ready(); err != nil {
		return nil, err
	}
	if err := explainable(m, held.Snapshot, o.Selection, o.Explain); err != nil {
		return nil, err
	}
	tellLeft(e, place, held.Recovery)
	if _, err := e.Runtime(ctx); err != nil {
		return nil, err
	}
	e.places.Known(hosts.Reachable(m)) // the recorded way to reach a host comes second
	e.over = o.HostOptions
	e.places.Most(max(o.AtOnce, connections))
	prior, open, err := e.lookAtUnsettled(ctx, place, m, held.Snapshot)
	if err != nil {
		return nil, err
	}
	m, selection, err := reach(ctx, e, m, prior, narrowed(o.Selection, m, o.Paths), true, open)
	if err != nil {
		return nil, err
	}
	p, _, err := e.build(ctx, m, prior, selection, o.Parallelism)
	if err == nil {
		err = e.heldBack(place, p, prior)
	}
	if err == nil && key != nil {
		err = workspace.Bind(e.Workspace, p, place, o.AnyState)
	}
	if err != nil {
		return nil, err
	}
	e.release()
	if err := e.show(p, m, prior, o.Explain); err != nil {
		return nil, err
	}
	if o.Out != "" {
		if err := e.SavePlan(p, o.Out, key); err != nil {
			return nil, err
		}
	}
	e.tellPlan(p, o.Out)
	return p, nil
}

// subject reads the manifest to plan, and returns the state file that belongs to it.
func (e *Engine) subject(ctx context.Context, o PlanOptions) (*config.Manifest, state.Place, error) {
	if !o.Selection.Destroy {
		m, err := e.Manifest(ctx, o.Inputs)
		return m, e.StatePlace(m), err
	}
	if len(o.Paths) > 0 {
		return nil, nil, diag.Errorf("Wrong command line", "plan -destroy takes no manifests: it removes what the state file knows. -target and "+
			"-exclude limit it.")
	}
	m, err := e.Empty()
	return m, e.StatePlaceAround(), err
}

// narrowed limits a selection to the blocks of the files that are named: they may be only a part of
// what belongs to the state. A whole directory is not named: it is the workspace.
func narrowed(s plan.Selection, m *config.Manifest, paths []string) plan.Selection {
	if len(paths) > 0 {
		s.Only = m.Blocks()
	}
	return s
}

// build fetches the images and makes a plan, and shows its warnings.
func (e *Engine) build(ctx context.Context, m *config.Manifest, prior state.Snapshot, s plan.Selection,
	parallelism int) (*plan.Plan, *answerers, error) {
	end := e.ui.Begin("Planning", len(m.Resources()))
	defer end()
	p, asked, diags, err := draft(ctx, e, m, prior, s, parallelism)
	if err != nil {
		return nil, nil, err
	}
	end()
	if diags.HasErrors() {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if p != nil {
			e.ui.Plan(p)
		}
		return nil, nil, e.Secrets.Diagnostics(diags)
	}
	e.Diagnostics(diags)
	return p, asked, nil
}

// draft fetches the images and makes a plan, and shows nothing.
func draft(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot, s plan.Selection,
	parallelism int) (*plan.Plan, *answerers, diag.Diagnostics, error) {
	chosen, diags := subject.Chosen(m, prior, s)
	if diags.HasErrors() {
		return nil, nil, nil, diags
	}
	resolver, err := e.resolver(ctx, m)
	if err != nil {
		return nil, nil, nil, err
	}
	resolver.Wanted = chosen
	pins, err := resolver.All(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	o := e.planOptions(s, parallelism)
	o.FromRegistry, o.Signed = resolver.FromRegistry, images.Signed(config.AllTypes(m))
	if s.Destroy {
		o.Plugs, o.Signed = e.PlugsAround(), images.Signed(workspace.TypesAround(e.Workspace))
	}
	resolver.Former(ctx, prior, o.Signed)
	client := e.client(prior, pins, resolver)
	asked, m, err := answering(ctx, e, m, prior, client, chosen, &o)
	if err != nil {
		return nil, nil, nil, cmp.Or(context.Cause(ctx), err)
	}
	p, diags := plan.Build(ctx, m, prior, asked, o)
	return p, asked, diags, nil
}

// answerers answer the queries of a plan and an apply.
type answerers struct {
	front.Types
	artifacts *artifactWork // nil = there are no artifacts
}

func (e *Engine) planOptions(s plan.Selection, parallelism int) plan.Options {
	resources, workers := limits(parallelism)
	return plan.Options{Version: e.Version, Workspace: e.Dir, Selection: s, Parallelism: resources, InWorkers: workers,
		Now: e.Started, Progress: e.planning, Secret: e.Secrets.Learn, Look: looker(e), Hosts: e.pins, HostsAtOnce: e.over.AtOnce}
}

// show shows a plan, or explains the changes of some resources. prior is the state that
// the plan was made from, or a later one.
func (e *Engine) show(p *plan.Plan, m *config.Manifest, prior state.Snapshot, addresses []string) error {
	if len(addresses) == 0 {
		e.ui.Plan(p)
		return nil
	}
	m, err := expanded(m, p)
	if err != nil {
		return err
	}
	parsed, err := config.ParseAddresses(addresses)
	if err != nil {
		return err
	}
	var list []*explain.Explanation
	for _, addr := range slices.Concat(meant(p, parsed)...) {
		one, err := explain.Resource(p, m, prior, addr, render.ToExplain)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	e.ui.Explain(p, list)
	return nil
}

// meant returns the addresses of a plan that each given address covers: a block or a module covers
// all that is in it. An address that covers nothing is returned itself, to be refused later.
func meant(p *plan.Plan, addresses []string) (list [][]string) {
	for _, addr := range addresses {
		var within []string
		for _, there := range natural.Sorted(maps.Keys(p.Resources)) {
			if moves.Covers(addr, there) {
				within = append(within, there)
			}
		}
		if within == nil {
			within = []string{addr}
		}
		list = append(list, within)
	}
	return list
}

// expanded returns a manifest with the artifact versions and the instances that became known during planning.
func expanded(m *config.Manifest, p *plan.Plan) (*config.Manifest, error) {
	if len(p.Artifacts) > 0 {
		var diags diag.Diagnostics
		if m, diags = m.WithArtifacts(artifacts.Values(p.Artifacts)); diags.HasErrors() {
			return nil, diags
		}
	}
	if len(p.Instances) == 0 {
		return m, nil
	}
	m, diags := m.With(p.Instances)
	if diags.HasErrors() {
		return nil, diags
	}
	return m, nil
}

// ExplainSaved explains the changes of some resources of a saved plan.
func (e *Engine) ExplainSaved(ctx context.Context, p *plan.Plan, addresses []string) error {
	m, err := e.Replay(p.Sources, p.Variables, p.Created)
	if err != nil {
		return err
	}
	snapshot, err := e.ReadState(ctx, e.StatePlace(m))
	if err != nil {
		return err
	}
	e.learn(snapshot)
	return e.show(p, m, snapshot, addresses)
}
