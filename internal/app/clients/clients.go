package clients

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/apply/guarding"
	"deployster/config"
	appartifacts "deployster/internal/app/artifacts"
	"deployster/internal/app/command"
	"deployster/internal/app/images"
	"deployster/internal/app/machine"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// Basis is what clients are made for: a manifest, a state and images.
type Basis struct {
	Manifest *config.Manifest
	Prior    state.Snapshot
	Images   images.Set
	Versions map[string]state.Artifact // which artifacts have, instead of those of the lock file; nil = none
	Known    map[string]artifacts.Pin  // which an earlier round of the same apply has used; nil = it is the first
}

// pins returns the versions that artifacts are pinned to, unless their blocks have one.
func (of Basis) pins(lock *config.Lock) map[string]config.Pin {
	if of.Versions == nil {
		if lock == nil {
			return nil
		}
		return lock.Artifacts
	}
	pins := map[string]config.Pin{}
	for _, a := range of.Manifest.Artifacts() {
		if was, known := of.Versions[a.Name]; known && a.Version == nil {
			pins[a.Name] = config.Pin{Space: was.Recipe.Space, Version: was.Recipe.Version}
		}
	}
	return pins
}

// expected returns how many queries and actions a plan and its apply need, by type: a query for each resource, and for one
// that is not recorded also an action, with a query before it and after it.
func (of Basis) expected() map[string]int {
	const known, unknown = 1, 1 + 3
	calls := map[string]int{}
	for _, r := range of.Manifest.Resources() {
		if _, recorded := of.Prior.Resources[r.Address]; recorded {
			calls[r.TypeRef] += known
		} else {
			calls[r.TypeRef] += unknown
		}
	}
	return calls
}

// Source makes clients for a command.
type Source struct {
	Command command.Command
	Machine *machine.Machine
	Places  *router.Places
}

// Clients answer the queries of a plan and an apply.
type Clients struct {
	appartifacts.Types
	files *files             // nil = there are no artifacts
	types *typeclient.Client // Types without artifacts

	places runner.Guardian
}

// guard has hosts undo guarded actions.
type guard struct {
	runner.Guardian
	types *typeclient.Client
}

// Protect implements guarding.Client.
func (g guard) Protect(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.ActionInput, key string, order int) error {
	return g.types.Protect(ctx, t, ty, in, key, order)
}

// Guard returns what has hosts undo guarded actions.
func (c Clients) Guard() guarding.Client { return guard{c.places, c.types} }

// files is what a command needs to work with artifacts.
type files struct {
	resolver *artifacts.Resolver // nil: a saved plan has pinned all versions
	client   *appartifacts.Client
}

// Client returns a client for images, which knows no artifacts.
func (s Source) Client(prior state.Snapshot, of images.Set) *typeclient.Client {
	return s.Machine.Client(s.Command, s.Places, prior, of.Pins, of.Resolver)
}

// Clients returns who answers the queries of a plan, and the manifest with the versions of
// artifacts. chosen reports whether an address is part of the plan; nil = the selection decides.
func (s Source) Clients(ctx context.Context, of Basis, chosen func(string) bool,
	o *plan.Options) (Clients, *config.Manifest, error) {
	m, types := of.Manifest, s.Client(of.Prior, of.Images)
	if !o.Selection.Partial() {
		types.Expected = of.expected()
	}
	if !appartifacts.Concern(m, of.Prior) {
		return Clients{Types: types, types: types, places: s.Places}, m, nil
	}
	if chosen == nil {
		var diags diag.Diagnostics
		if chosen, diags = subject.Chosen(m, of.Prior, o.Selection); diags.HasErrors() {
			return Clients{}, nil, diags
		}
	}
	w, m, err := s.resolve(ctx, of, types, chosen, *o)
	if err != nil {
		return Clients{}, nil, s.Command.Work.Secrets.Diagnostics(diag.From("Cannot find the versions of artifacts", err))
	}
	o.Artifacts = w.resolver
	return Clients{w.client, w, types, s.Places}, m, nil
}

// resolve finds the versions of the artifacts that the chosen resources need, and
// returns the manifest with these versions.
func (s Source) resolve(ctx context.Context, of Basis, types *typeclient.Client, chosen func(string) bool,
	o plan.Options) (*files, *config.Manifest, error) {
	m, work := of.Manifest, s.Command.Work
	lock, err := images.ReadLock(work.Dir)
	if err != nil {
		return nil, nil, err
	}
	w := &files{}
	client, store := s.Machine.Artifacts(s.Command, types)
	ro := artifacts.Options{Client: client, Store: store, Declared: m.Artifacts(), Secrets: m.Secrets(), Recorded: of.Prior.Artifacts,
		UseRecorded: o.Selection.NoRefresh || o.Selection.RefreshOnly, Follow: o.Selection.Follow, Known: of.Known,
		Checked: func(p artifacts.Pin) { work.Events(events.OfChecked(p)) }}
	if ro.Passing, err = passing(m, of.Prior); err != nil {
		return nil, nil, err
	}
	ro.Lock, ro.Rollback = of.pins(lock), of.Versions != nil
	w.resolver = artifacts.New(ro)
	fo := s.artifactOptions(m, of.Prior, types, client, store)
	fo.Pins, fo.Again = w.resolver.Pins, o.Selection.Replace
	w.client = appartifacts.New(fo)
	names, err := appartifacts.Wanted(m, chosen, !o.Selection.Partial())
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

func (s Source) artifactOptions(m *config.Manifest, prior state.Snapshot, types *typeclient.Client, client artifact.Client,
	store artifact.Store) appartifacts.Options {
	return appartifacts.Options{Types: types, Client: client, Store: store, Manifest: m, Prior: prior, Warn: s.Command.Work.Warn,
		Withheld: s.Machine.Runtime.Withheld}
}

// Recorded is Clients with the recorded versions of artifacts.
func (s Source) Recorded(ctx context.Context, of Basis, o *plan.Options) (Clients, *config.Manifest, error) {
	believing := *o
	believing.Selection.NoRefresh = true
	known, addresses := HasEntry(of.Prior), slices.Collect(maps.Keys(of.Prior.Resources))
	chosen := func(addr string) bool { // true also for a block with recorded instances
		return known(addr) || slices.ContainsFunc(addresses, func(a string) bool { return moves.Covers(addr, a) })
	}
	asked, m, err := s.Clients(ctx, of, chosen, &believing)
	o.Artifacts = believing.Artifacts
	return asked, m, err
}

// HasEntry returns a function that reports whether an address is recorded.
func HasEntry(prior state.Snapshot) func(string) bool {
	return func(addr string) bool { _, known := prior.Completed(addr); return known }
}

// Saved returns the clients of a saved plan, which has pinned all versions.
func (s Source) Saved(m *config.Manifest, prior state.Snapshot, saved *plan.Plan) Clients {
	types := s.Client(prior, images.Set{Pins: saved.Images, Resolver: images.NewResolver(s.Machine.Runtime, m, nil)})
	if len(saved.Artifacts) == 0 && !appartifacts.Concern(m, prior) {
		return Clients{Types: types, types: types, places: s.Places}
	}
	client, store := s.Machine.Artifacts(s.Command, types)
	o := s.artifactOptions(m, prior, types, client, store)
	o.Again, o.Pins = putAgain(saved, prior), func() map[string]artifacts.Pin { return saved.Artifacts }
	f := appartifacts.New(o)
	return Clients{f, &files{client: f}, types, s.Places}
}

// putAgain returns the publishes that -replace selects, without those that a run of this
// plan that ended unexpectedly has put already.
func putAgain(p *plan.Plan, prior state.Snapshot) []string {
	died, _ := prior.Died(p.ID)
	return slices.DeleteFunc(slices.Clone(p.Selection.Replace), func(addr string) bool { return died.Done[addr] != "" })
}

// Prefetch fetches the files that a plan needs.
func (c Clients) Prefetch(ctx context.Context, p *plan.Plan) error {
	if c.files == nil {
		return nil
	}
	return c.files.client.Prefetch(ctx, p)
}

// WatchSpec returns how to run the program of a type that reports changes to a resource.
func (c Clients) WatchSpec(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (runner.Spec, error) {
	if c.files != nil {
		var err error
		if t, err = c.files.client.Mounted(ctx, t); err != nil {
			return runner.Spec{}, err
		}
	}
	return c.types.WatchSpec(ctx, t, ty, in)
}

// Operate runs an operation, with the files of artifacts mounted.
func (c Clients) Operate(ctx context.Context, t typeclient.Target, ty protocol.Type, o typeclient.Operation) (runner.Result, error) {
	if c.files != nil {
		var err error
		if t, err = c.files.client.Mounted(ctx, t); err != nil {
			return runner.Result{}, err
		}
	}
	return o.Run(ctx, c.types, t, ty)
}

// CheckInput returns how the input of an operation violates its schema.
func (c Clients) CheckInput(ty protocol.Type, operation string, input json.RawMessage) []typeschema.Violation {
	return c.types.CheckConfig(protocol.Type{ConfigSchema: ty.Operations[operation].ConfigSchema}, input, nil)
}

// CheckState returns how a state violates the schema of states of a type.
func (c Clients) CheckState(ty protocol.Type, state json.RawMessage) []typeschema.Violation {
	return c.types.CheckState(ty, state)
}

// Begin records what the run of a plan needs to obtain its files again.
func (c Clients) Begin(j *state.Journal, p *plan.Plan) error {
	if c.files == nil {
		return nil
	}
	c.files.client.Record(j)
	pins := map[string]state.Pin{}
	for _, pin := range p.Artifacts {
		pins[pin.Key] = pin.Pin
	}
	if len(pins) == 0 {
		return nil
	}
	return j.Pins(pins)
}

// End records the versions in use, after a run without errors. Artifacts outside the plan
// keep their recorded versions.
func (c Clients) End(j *state.Journal, m *config.Manifest, prior state.Snapshot, p *plan.Plan, now time.Time) error {
	if c.files == nil {
		return nil
	}
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
