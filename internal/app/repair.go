package app

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/app/approval"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/plan/view"
	"deployster/protocol"
	"deployster/state"
)

// ErrElsewhere says that the state is not the expected one: another command changed it, and nothing was done.
var ErrElsewhere = errors.New("the state was changed by another command")

// Keeper is an engine that repairs drift of what was applied.
type Keeper struct{ *Engine }

// Child returns an engine for one of several runs of this one. It shares the runtime and
// the secrets, and has events and records of its own. It need not be closed, waits for no
// lock, and shows people errors and warnings only.
func (e Keeper) Child(send func(events.Event), records Records) Keeper {
	w, o, ui := *e.Workspace, e.options, hearing{to: e.ui}
	w.Events, w.UI, w.LockTimeout, w.Started, w.Kept = send, ui, 0, time.Now(), cmp.Or(w.Kept, &state.Kept{})
	o.Records = func(string, *encryption.Keyring) Records { return records }
	return Keeper{&Engine{Workspace: &w, ui: ui, options: o, runtime: e.runtime, pool: e.pool, places: e.places, pins: e.pins,
		released: make(chan error)}}
}

// Forget forgets the secrets that were not learned again since the last call: they are
// neither in the state nor in any answer since then. It must not be called during a
// repair.
func (e Keeper) Forget(prior state.Snapshot) {
	e.Secrets.Age()
	e.learn(prior)
}

// Source is what is compared with the real objects again and again: a manifest, and its images.
type Source struct {
	Manifest  *config.Manifest
	Place     state.Place
	Mark      string // of the place, before the state was read; "" also if it did not answer
	Selection plan.Selection
	pins      map[string]string
	images    *images.Resolver
}

// SourceOptions say where a Source comes from.
type SourceOptions struct {
	workspace.Inputs // Paths may be one saved plan that was applied
	Selection        plan.Selection
	Policy           workspace.PolicyOptions
	Before           state.Place // the place of an earlier Source; used again if it is the same place. nil = none
	Whole            bool        // resources that were never applied need their images too
}

// Source reads manifests, or a saved plan that was applied, and returns them with the
// state that they belong to.
func (e Keeper) Source(ctx context.Context, o SourceOptions) (*Source, state.Snapshot, error) {
	policy, err := e.Policy(o.Policy)
	if err != nil {
		return nil, state.Snapshot{}, err
	}
	s, saved := &Source{Selection: o.Selection}, (*plan.Plan)(nil)
	if e.IsPlan(o.Paths) {
		saved, err = e.savedSource(s, o, policy)
	} else if err = policy.SavedOnly("watch"); err == nil {
		if err = namesPlan(e.Engine, o.Paths); err == nil {
			s.Manifest, err = e.Manifest(ctx, o.Inputs)
		}
	}
	if err != nil {
		return nil, state.Snapshot{}, err
	}
	if s.Place = e.StatePlace(s.Manifest); o.Before != nil && o.Before.String() == s.Place.String() {
		s.Place = o.Before // it keeps its connection
	}
	s.Mark, _ = s.Place.Mark(ctx) // if that fails, the state is read again later
	snapshot, err := e.ReadState(ctx, s.Place)
	if err == nil && saved != nil && !wasApplied(snapshot, saved.ID) {
		err = diag.Errorf("The plan was not applied", "%s has to be applied first, and to end well: `deployster apply %s`. "+
			"What is watched is what was approved and done.", o.Paths[0], o.Paths[0])
	}
	if err != nil {
		return nil, snapshot, err
	}
	if err := e.sourceImages(ctx, s, snapshot, saved, o); err != nil {
		return nil, snapshot, err
	}
	return s, snapshot, s.reach(ctx, e.Engine, saved, snapshot)
}

// sourceImages finds the images of a source: those of its plan, or those that the
// manifest names.
func (e Keeper) sourceImages(ctx context.Context, s *Source, snapshot state.Snapshot, saved *plan.Plan, o SourceOptions) (err error) {
	if _, err := e.Runtime(ctx); err != nil {
		return err
	}
	if saved != nil {
		s.pins, s.images = saved.Images, images.NewResolver(e.runtime, s.Manifest, nil)
		return nil
	}
	s.Selection = narrowed(s.Selection, s.Manifest, o.Paths)
	if s.images, err = e.resolver(ctx, s.Manifest); err != nil {
		return err
	}
	if o.Whole {
		s.pins, err = s.images.All(ctx)
		return err
	}
	s.images.Wanted = recorded(snapshot)
	s.pins, err = s.images.All(ctx)
	return err
}

// savedSource reads a saved plan, and the manifest that it was made from.
func (e Keeper) savedSource(s *Source, o SourceOptions, policy workspace.Policy) (*plan.Plan, error) {
	if len(o.Variables) > 0 {
		return nil, diag.Errorf("Wrong command line", "A saved plan holds the values of its variables: -var and -var-file cannot change them.")
	}
	p, signature, err := e.ReadPlan(o.Paths[0])
	if err == nil {
		err = policy.Check(o.Paths[0], p, signature)
	}
	if err != nil {
		return nil, err
	}
	if s.Manifest, err = e.Replay(p.Sources, p.Variables, p.Created); err == nil {
		s.Manifest, err = expanded(s.Manifest, p)
	}
	return p, err
}

// wasApplied reports whether a plan was applied without errors. What it left may follow.
func wasApplied(s state.Snapshot, id string) bool {
	return slices.ContainsFunc(s.Applied, func(a state.Applied) bool {
		return a.Plan == id && (a.Status == state.StatusOK || a.Status == state.StatusIncomplete)
	})
}

// WatchSpec returns how to run the program of a type that reports changes to a resource.
type WatchSpec func(context.Context, typeclient.Target, protocol.Type, protocol.StateInput) (runner.Spec, error)

// Looker returns a plan.Looker, which queries single resources of a source.
func (e Keeper) Looker(ctx context.Context, s *Source, prior state.Snapshot) (*plan.Looker, WatchSpec, error) {
	client, o := e.client(prior, s.pins, s.images), e.planOptions(s.Selection, 0)
	asked, m, err := remembering(ctx, e.Engine, s.Manifest, prior, client, &o)
	if err != nil {
		return nil, nil, err
	}
	if e.files != nil { // what only earlier states needed may be pruned: a watch runs for months
		_ = e.files.Release(func(key string) bool { _, needed := prior.Pins[key]; return needed })
	}
	l, diags := plan.NewLooker(ctx, m, prior, asked, o)
	if l == nil {
		return nil, nil, e.Secrets.Diagnostics(diags)
	}
	e.Diagnostics(diags)
	if asked.artifacts == nil {
		return l, client.WatchSpec, nil
	}
	return l, func(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (runner.Spec, error) {
		t, err := asked.artifacts.front.Mounted(ctx, t)
		if err != nil {
			return runner.Spec{}, err
		}
		return client.WatchSpec(ctx, t, ty, in)
	}, nil
}

// RepairOptions say what to repair, and what is approved for that.
type RepairOptions struct {
	Source    *Source
	Prior     state.Snapshot // the expected state; Repair refuses another one
	Addresses []string       // what drifted
	Whole     bool           // instead of Addresses: all resources that the manifest declares and the state has, as in an apply
	Kinds     []plan.Change  // the kinds of change that are approved
	Looker    *plan.Looker   // of the watch: nothing else queries the resources that drifted
	Ended     func()         // called when the state is written, and before any other command can change it
}

// Repaired is the result of a repair.
type Repaired struct {
	Report      *apply.Report // nil: there was nothing to do, or nothing that is approved
	Snapshot    state.Snapshot
	Refused     map[string]string // what was left out because it is not approved, by address; with the reason
	Planned     []string          // the addresses that were planned; nil = all that there are
	Later       []string          // left out until the resources that its instances depend on are repaired
	Unrefreshed map[string]bool   // taken from the state without a query
	Broken      error             // why some could not be planned; they were left out with their dependants
}

// Repair repairs what drifted, and its dependants, as an apply does: with the lock, a
// plan, the journal and a report. It leaves out what is not approved, with its
// dependants.
func (e Keeper) Repair(ctx context.Context, o RepairOptions) (done Repaired, err error) {
	store, err := e.OpenState(ctx, o.Source.Place, "watch")
	if err != nil {
		return done, err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	done.Snapshot = store.Snapshot()
	if done.Snapshot.Serial != o.Prior.Serial || done.Snapshot.Lineage != o.Prior.Lineage {
		return done, ErrElsewhere
	}
	defer o.Ended()
	defer closeArtifacts(e.Engine)
	t := &task{Engine: e.Engine, command: "watch", manifest: o.Source.Manifest, report: reporter{engine: e.Engine}}
	t.KeepGoing = true
	end, err := t.act(ctx, o.Source.Place, store)
	if err != nil {
		return done, err
	}
	defer end()
	open, err := e.adopt(ctx, o.Source.Place, store, o.Source.Manifest, nil)
	if err != nil {
		return done, err
	}
	done.Snapshot = store.Snapshot() // with the ends that adopt found out
	m, blocks := o.Source.Manifest, []config.Pending(nil)
	if !o.Whole {
		believed, client := t.planOptions(o.Source.Selection, 0), e.client(done.Snapshot, o.Source.pins, o.Source.images)
		if _, m, err = remembering(ctx, e.Engine, m, done.Snapshot, client, &believed); err != nil {
			return done, err
		}
		m, blocks = view.ExpandRecorded(m, done.Snapshot)
	}
	policy := repair.Policy{Manifest: m, Expanded: blocks, Place: o.Source.Place, Selection: o.Source.Selection, Prior: done.Snapshot,
		Addresses: o.Addresses, Whole: o.Whole, Kinds: o.Kinds, Looker: o.Looker}
	err = t.approved(ctx, o.Source, policy, open, &done)
	for _, addr := range o.Addresses {
		if policy.Later(addr, done.Planned) && !slices.Contains(done.Planned, addr) {
			done.Later = append(done.Later, addr)
		}
	}
	if err != nil || t.plan == nil {
		return done, err
	}
	if done.Broken != nil {
		e.Diagnostics(diag.From("Cannot repair all", done.Broken))
	}
	if err := approval.RefuseOtherPaths(t.plan, runner.RealDir(e.Dir)); err != nil {
		return done, err
	}
	done.Unrefreshed = map[string]bool{}
	for addr, step := range t.plan.Resources {
		done.Unrefreshed[addr] = step.Unrefreshed
	}
	t.left = hosts.Left(t.plan, nil)
	maps.Copy(t.left, done.Refused)
	t.options = apply.Options{Kinds: o.Kinds, Deferred: apply.DeferredByKinds, Allowed: policy.MayRun}
	done.Report, err = t.execute(ctx, store)
	done.Snapshot = store.Snapshot()
	return done, err
}

// approved plans, leaves out the steps that are not approved, and plans again, until all
// remaining steps are approved. t.plan stays nil when nothing is left to do. What cannot
// be planned is left out too. done gets what was left out.
func (t *task) approved(ctx context.Context, source *Source, policy repair.Policy, open []string, done *Repaired) (err error) {
	left := map[string]string{}
	for _, addr := range hosts.Today(source.Manifest, policy.Prior, open) {
		left[addr] = "an action may still run there, and its host cannot be asked"
	}
	done.Refused = maps.Clone(left)
	for {
		s, nothing := policy.Select(left)
		if done.Planned = s.Targets; nothing {
			return nil
		}
		client := t.Engine.client(policy.Prior, source.pins, source.images)
		o := t.planOptions(s, 0)
		o.Doubt, o.FromRegistry, o.Signed = policy.Addresses, source.images.FromRegistry, images.Signed(config.AllTypes(source.Manifest))
		if t.client, t.manifest, err = answering(ctx, t.Engine, source.Manifest, policy.Prior, client, nil, &o); err != nil {
			return err
		}
		if !policy.Whole {
			t.manifest, _ = view.ExpandRecorded(t.manifest, policy.Prior)
		}
		p, diags := plan.Build(ctx, t.manifest, policy.Prior, t.client, o)
		if diags.HasErrors() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if done.Broken = t.Secrets.Diagnostics(diags); !policy.Leave(left, diags) {
				return done.Broken
			}
			continue
		}
		more := policy.NotCovered(p)
		if len(more) == 0 {
			if !repair.Nothing(p, policy.Prior) {
				t.plan = p
				t.tellPlan(p, "")
			}
			return nil
		}
		maps.Copy(done.Refused, more)
		maps.Copy(left, more)
	}
}
