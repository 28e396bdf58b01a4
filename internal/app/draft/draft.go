package draft

import (
	"cmp"
	"context"

	"deployster/apply/fresh"
	"deployster/config"
	"deployster/internal/app/clients"
	"deployster/internal/app/command"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/machine"
	"deployster/internal/base/diag"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/drift"
	"deployster/plan/lookup"
	"deployster/plan/plugs"
	"deployster/plan/query"
	"deployster/plan/subject"
	"deployster/state"
)

// DefaultParallelism is how many resources are worked on concurrently.
const DefaultParallelism = 10

// inWorkers is the same for resources whose type has a worker: a call in flight there
// needs no container, and journal entries that are written together are synced once.
const inWorkers = 80

// inWorkersStored is the same in an apply that records in a remote store: each write waits for an
// answer of the store, and the journal entries that come meanwhile are written together next.
const inWorkersStored = 240

// Limits returns how many resources are worked on concurrently, and how many of those
// that have a worker; 0 = the same number.
func Limits(parallelism int) (resources, workers int) {
	if parallelism == 0 {
		return DefaultParallelism, inWorkers
	}
	return parallelism, 0
}

// ApplyLimits is Limits for an apply that records in a place.
func ApplyLimits(parallelism int, place state.Place) (resources, workers int) {
	resources, workers = Limits(parallelism)
	if _, stored := place.(*state.Remote); stored && workers > 0 {
		workers = inWorkersStored
	}
	return resources, workers
}

// Planner makes plans for a command.
type Planner struct {
	clients.Source
}

// NewPlanner returns what makes plans for a command.
func NewPlanner(c command.Command, m *machine.Machine, places *router.Places) Planner {
	return Planner{clients.Source{Command: c, Machine: m, Places: places}}
}

// Inputs are what a plan is made from.
type Inputs struct {
	Manifest    *config.Manifest
	Prior       state.Snapshot
	Selection   plan.Selection
	Hosts       map[string]router.Pin
	AtOnce      int                       // how many hosts are worked on concurrently; 0 = order.Hosts
	Parallelism int                       // 0 = DefaultParallelism, and more in workers
	Images      map[string]string         // the digests of images by reference, whatever the names refer to now; nil = as they are resolved
	Versions    map[string]state.Artifact // which artifacts have, whatever is newest or locked; nil = as they are resolved
	OnlyShown   bool                      // nobody saves, judges or applies the plan
	Known       map[string]artifacts.Pin  // which an earlier round of the same apply has used; nil = it is the first
}

// Basis returns what the clients of a plan with images are made for.
func (in Inputs) Basis(of images.Set) clients.Basis {
	return clients.Basis{Manifest: in.Manifest, Prior: in.Prior, Images: of, Versions: in.Versions, Known: in.Known}
}

// Options returns the options of a plan.
func (p Planner) Options(in Inputs) plan.Options {
	resources, workers := Limits(in.Parallelism)
	w := p.Command.Work
	return plan.Options{Version: w.Version, Workspace: w.Dir, Selection: in.Selection, Parallelism: resources, InWorkers: workers,
		Now: w.Started, Progress: p.Command.Planning, Secret: w.Secrets.Learn, PlugPaths: PlugPaths(p.Places), Hosts: in.Hosts,
		HostsAtOnce: in.AtOnce, Rootless: rootless.Lost(), Claims: p.Places.OtherClaims(in.Prior.Lineage), OnlyShown: in.OnlyShown}
}

// PlugPaths returns a function that resolves plugs on hosts.
func PlugPaths(at *router.Places) plugs.Resolve {
	return func(ctx context.Context, h runner.Host, list []config.Plug) ([]plugs.Resolved, error) {
		return hosts.ResolvePlugs(ctx, at, h, list)
	}
}

// Plan fetches the images and makes a plan, and shows nothing.
func (p Planner) Plan(ctx context.Context, in Inputs) (*plan.Plan, clients.Clients, diag.Diagnostics, error) {
	m, prior, s := in.Manifest, in.Prior, in.Selection
	chosen, diags := subject.Chosen(m, prior, s)
	if diags.HasErrors() {
		return nil, clients.Clients{}, nil, diags
	}
	resolver, err := p.Machine.Resolver(p.Command.Work.Dir, m)
	if err != nil {
		return nil, clients.Clients{}, nil, err
	}
	resolver.Wanted = chosen
	pins, err := p.images(ctx, in, resolver)
	if err != nil {
		return nil, clients.Clients{}, nil, err
	}
	o := p.Options(in)
	o.Pins, o.FromRegistry, o.Signed = pins, resolver.FromRegistry, images.Signed(m.Types().All())
	if s.Destroy {
		o.Signed = images.Signed(p.Command.Work.Reader().Types())
		if here := p.Command.Work.UseKeys(); here != nil {
			o.Plugs = here.Plugs()
		}
	}
	resolver.Former(ctx, prior, o.Signed)
	asked, m, err := p.Clients(ctx, in.Basis(images.Set{Pins: pins, Resolver: resolver}), chosen, &o)
	if err != nil {
		return nil, clients.Clients{}, nil, cmp.Or(context.Cause(ctx), err)
	}
	made, diags := plan.Build(ctx, m, prior, asked, o)
	return made, asked, diags, nil
}

// images fetches the images of a plan.
func (p Planner) images(ctx context.Context, in Inputs, resolver *images.Resolver) (map[string]string, error) {
	if in.Images != nil {
		return in.Images, resolver.Exactly(ctx, in.Images)
	}
	return resolver.All(ctx)
}

// Has checks that what a saved plan was made with is here still, and fetches its images.
func (p Planner) Has(ctx context.Context, saved *plan.Plan) error {
	w := p.Command.Work
	if err := fresh.CheckPlugs(saved, runner.RealDir(w.Dir)); err != nil {
		return err
	}
	if err := hosts.CheckPlan(ctx, w, p.Places, saved); err != nil {
		return err
	}
	return images.Ensure(ctx, p.Machine.Runtime, saved)
}

// Drift queries the objects that are recorded, with the images that their types have, and reports
// whether they match the state.
func (p Planner) Drift(ctx context.Context, in Inputs) (*drift.Report, diag.Diagnostics, error) {
	resolver, err := p.Machine.Resolver(p.Command.Work.Dir, in.Manifest)
	if err != nil {
		return nil, nil, err
	}
	resolver.Wanted = clients.HasEntry(in.Prior)
	pins, err := resolver.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	o := p.Options(in)
	asked, m, err := p.Recorded(ctx, in.Basis(images.Set{Pins: pins, Resolver: resolver}), &o)
	if err != nil {
		return nil, nil, err
	}
	report, diags := drift.Find(ctx, m, in.Prior, asked, o)
	return report, diags, nil
}

// Look returns what reads what the checks of an apply declare to be read: m is its manifest, now its state at that time, and asked its
// clients.
func (p Planner) Look(in Inputs, m *config.Manifest, now func() state.Snapshot,
	asked clients.Clients) func(context.Context, config.States) config.Looked {
	if len(m.Unattended().Lookups()) == 0 {
		return nil
	}
	return func(ctx context.Context, s config.States) config.Looked {
		return lookup.Find(ctx, query.New(m, now(), asked, p.Options(in)), s)
	}
}

// Expanded returns a manifest with the artifact versions and the instances that became known during planning.
func Expanded(m *config.Manifest, p *plan.Plan) (*config.Manifest, error) {
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
