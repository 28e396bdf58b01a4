package repairs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/machine"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/stage"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/protocol"
	"deployster/state"
)

// Keeper reads sources and repairs them, on a machine that was connected before.
type Keeper struct {
	Command command.Command
	Machine *machine.Machine
}

// Child returns a Keeper for one of several runs of this one. It shares the machine and
// the secrets, and has events, records and a store of artifacts of its own. It waits for no
// lock, and shows people errors and warnings only.
func (k Keeper) Child(send func(events.Event), records command.Records) Keeper {
	w, ui := *k.Command.Work, command.ErrorsOnly{To: k.Command.UI}
	w.Events, w.UI, w.LockTimeout, w.Started, w.Kept = send, ui, 0, time.Now(), cmp.Or(w.Kept, &state.Kept{})
	return Keeper{command.Command{Work: &w, UI: ui, Abort: k.Command.Abort,
		Open: func(string, *encryption.Keyring) command.Records { return records }}, k.Machine.WithFiles()}
}

// Forget forgets the secrets that were not learned again since the last call: they are
// neither in the state nor in any answer since then. It must not be called during a
// repair.
func (k Keeper) Forget(prior state.Snapshot) {
	k.Command.Work.Secrets.Age()
	k.Command.Learn(prior)
}

// HostsLost reports whether some hosts were unreachable. They are tried again when a
// Source is read.
func (k Keeper) HostsLost() bool { return k.Machine.Places.Lost() }

// Source is what is compared with the real objects again and again: a manifest, and its images.
type Source struct {
	Manifest  *config.Manifest
	Place     state.Place
	Mark      string // of the place, before the state was read; "" also if it did not answer
	Selection plan.Selection
	hosts     map[string]router.Pin
	images    images.Set
}

// SourceOptions declare where a Source comes from.
type SourceOptions struct {
	workspace.Inputs // Paths may be one saved plan that was applied
	Selection        plan.Selection
	Policy           savedplan.PolicyOptions
	Before           state.Place // the place of an earlier Source; used again if it is the same place. nil = none
	Whole            bool        // resources that were never applied need their images too
}

// Source reads manifests, or a saved plan that was applied, and returns them with the
// state that they belong to.
func (k Keeper) Source(ctx context.Context, o SourceOptions) (*Source, state.Snapshot, error) {
	loaded, err := k.load(ctx, o)
	if err != nil {
		return nil, state.Snapshot{}, err
	}
	if o.Before != nil && o.Before.String() == loaded.Place.String() {
		loaded.Place = o.Before // it keeps its connection
	}
	mark, _ := loaded.Place.Mark(ctx) // if that fails, the state is read again later
	opened, err := stage.Read(ctx, k.Command, loaded)
	if err == nil && loaded.Saved != nil && !wasApplied(opened.Prior, loaded.Saved.ID) {
		err = diag.Errorf("The plan was not applied", "%s has to be applied first, and to end well: `deployster apply %s`. Only what "+
			"was approved and applied is watched.", o.Paths[0], o.Paths[0])
	}
	if err != nil {
		return nil, opened.Prior, err
	}
	defer opened.Close()
	of, err := k.images(ctx, opened, o.Whole)
	if err != nil {
		return nil, opened.Prior, err
	}
	places := k.Machine.Places
	places.Most(0) // a watch keeps its connections for months
	places.Retry()
	if loaded.Saved != nil {
		places.Known(hosts.Planned(loaded.Saved))
	}
	n, err := stage.Compare(ctx, k.Command, opened, k.Machine)
	if err != nil {
		return nil, opened.Prior, err
	}
	return &Source{Manifest: n.Manifest, Place: n.Place, Mark: mark, Selection: n.Selection, hosts: n.Pins, images: of}, n.Prior, nil
}

// load reads manifests, or a saved plan.
func (k Keeper) load(ctx context.Context, o SourceOptions) (stage.Loaded, error) {
	policy, err := savedplan.PolicyOf(k.Command.Work.Options, o.Policy)
	if err != nil {
		return stage.Loaded{}, err
	}
	if !savedplan.IsPlan(k.Command.Work, o.Paths) {
		if err := policy.SavedOnly("watch"); err != nil {
			return stage.Loaded{}, err
		}
		if err := stage.NamesPlan(k.Command.Work, o.Paths); err != nil {
			return stage.Loaded{}, err
		}
		return stage.Load(ctx, k.Command, o.Inputs, o.Selection)
	}
	if len(o.Selection.Follow) > 0 {
		return stage.Loaded{}, diag.Errorf("Conflicting flags", "A saved plan holds the versions of its artifacts: -follow needs the "+
			"manifests.")
	}
	if len(o.Variables) > 0 {
		return stage.Loaded{}, diag.Errorf("Conflicting flags", "A saved plan holds the values of its variables: -var and -var-file "+
			"cannot change them.")
	}
	l, err := stage.LoadSaved(k.Command, o.Paths[0], policy.Check)
	if err != nil {
		return l, err
	}
	l.Manifest, err = draft.Expanded(l.Manifest, l.Saved)
	if err != nil {
		return l, err
	}
	l.Place, l.Selection = k.Command.Work.StatePlace(l.Manifest), o.Selection
	return l, nil
}

// images finds the images of a source: those of its plan, or those that the manifest names. With
// whole, resources that were never applied need theirs too.
func (k Keeper) images(ctx context.Context, o stage.Opened, whole bool) (of images.Set, err error) {
	if o.Saved != nil {
		return images.Set{Pins: o.Saved.Images, Resolver: images.NewResolver(k.Machine.Runtime, o.Manifest, nil)}, nil
	}
	if of.Resolver, err = k.Machine.Resolver(k.Command.Work.Dir, o.Manifest); err != nil {
		return of, err
	}
	if !whole {
		of.Resolver.Wanted = func(addr string) bool { _, known := o.Prior.Completed(addr); return known }
	}
	of.Pins, err = of.Resolver.All(ctx)
	return of, err
}

// wasApplied reports whether a plan was applied without errors. What it left may follow.
func wasApplied(s state.Snapshot, id string) bool {
	return slices.ContainsFunc(s.Applied, func(a state.Applied) bool {
		return a.Plan == id && (a.Status == state.StatusOK || a.Status == state.StatusIncomplete)
	})
}

// WatchSpec returns how to run the program of a type that reports changes to a resource.
type WatchSpec func(context.Context, typeclient.Target, protocol.Type, protocol.StateInput) (runner.Spec, error)

// Checker returns a drift.Checker, which queries single resources of a source.
func (k Keeper) Checker(ctx context.Context, s *Source, prior state.Snapshot) (*drift.Checker, WatchSpec, error) {
	p, in := k.planner(), s.inputs(prior)
	o := p.Options(in)
	asked, m, err := p.Recorded(ctx, in.Basis(s.images), &o)
	if err != nil {
		return nil, nil, err
	}
	if files := k.Machine.Files.Store; files != nil { // what only earlier states needed may be pruned: a watch runs for months
		_ = files.Release(func(key string) bool { _, needed := prior.Pins[key]; return needed })
	}
	l, diags := drift.NewChecker(ctx, m, prior, asked, o)
	if l == nil {
		return nil, nil, k.Command.Work.Secrets.Diagnostics(diags)
	}
	k.Command.Work.Diagnostics(diags)
	return l, asked.WatchSpec, nil
}

func (k Keeper) planner() draft.Planner {
	return draft.NewPlanner(k.Command, k.Machine, k.Machine.Places)
}

// inputs returns what a source is planned from.
func (s *Source) inputs(prior state.Snapshot) draft.Inputs {
	return draft.Inputs{Manifest: s.Manifest, Prior: prior, Selection: s.Selection, Hosts: s.hosts}
}
