package repairs

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deployster/apply"
	"deployster/internal/app/approval"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/stage"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/observe"
	"deployster/plan/repair"
	"deployster/state"
)

// ErrElsewhere reports that the state is not the expected one: another command changed it, and nothing was done.
var ErrElsewhere = errors.New("the state was changed by another command")

// RepairOptions declare what to repair, and what is approved for that.
type RepairOptions struct {
	Source    *Source
	Prior     state.Snapshot // the expected state; Repair refuses another one
	Addresses []string       // what drifted
	Whole     bool           // instead of Addresses: all resources that the manifest declares and the state has, as in an apply
	Kinds     []plan.Change  // the kinds of change that are approved
	Checker   *drift.Checker // of the watch: nothing else queries the resources that drifted
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
func (k Keeper) Repair(ctx context.Context, o RepairOptions) (done Repaired, err error) {
	loaded := stage.Loaded{Manifest: o.Source.Manifest, Place: o.Source.Place, Selection: o.Source.Selection}
	opened, err := stage.Relock(ctx, k.Command, loaded, "watch")
	if err != nil {
		return done, err
	}
	defer opened.Close()
	done.Snapshot = opened.Prior
	if done.Snapshot.Serial != o.Prior.Serial || done.Snapshot.Lineage != o.Prior.Lineage {
		return done, ErrElsewhere
	}
	if current, err := opened.Current(k.Command); err != nil {
		return done, err
	} else if !current {
		return done, ErrElsewhere // the manifests are read again, with what is published now
	}
	defer o.Ended()
	defer k.Machine.Files.Close(k.Command)
	connected, err := stage.ActAgain(ctx, k.Command, opened, k.Machine, "watch", o.Source.hosts)
	if err != nil {
		return done, err
	}
	defer connected.Close()
	done.Snapshot = connected.Prior // with the ends that were found out
	t := attempt{connected, k, o.Source, repair.Policy{Manifest: o.Source.Manifest, Place: o.Source.Place, Selection: o.Source.Selection,
		Prior: done.Snapshot, Addresses: o.Addresses, Whole: o.Whole, Kinds: o.Kinds, Checker: o.Checker}}
	if !o.Whole {
		believed := t.planner().Options(t.source.inputs(done.Snapshot))
		_, m, err := t.planner().Recorded(ctx, t.source.inputs(done.Snapshot).Basis(o.Source.images), &believed)
		if err != nil {
			return done, err
		}
		t.policy.Manifest, t.policy.Expanded = observe.ExpandRecorded(m, done.Snapshot)
	}
	drafted, err := t.draft(ctx, &done)
	if err == nil && drafted.Plan != nil {
		k.Command.Planned(drafted.Plan, "")
	}
	for _, addr := range o.Addresses {
		if t.policy.Later(addr, done.Planned) && !slices.Contains(done.Planned, addr) {
			done.Later = append(done.Later, addr)
		}
	}
	if err != nil || drafted.Plan == nil {
		return done, err
	}
	err = k.run(ctx, t, drafted, &done)
	done.Snapshot = opened.Recorded()
	return done, err
}

// run applies the plan of a repair.
func (k Keeper) run(ctx context.Context, t attempt, d stage.Drafted, done *Repaired) error {
	if done.Broken != nil {
		k.Command.Work.Diagnostics(diag.From("Cannot repair all", done.Broken))
	}
	if err := approval.RefuseOtherPaths(d.Plan, runner.RealDir(k.Command.Work.Dir)); err != nil {
		return err
	}
	if err := approval.RefusePurges(d.Plan); err != nil {
		return err
	}
	if err := approval.RefuseNewGrants(d.Plan, d.Prior); err != nil {
		return err
	}
	done.Unrefreshed = map[string]bool{}
	for addr, step := range d.Plan.Resources {
		done.Unrefreshed[addr] = step.Unrefreshed()
	}
	ok, err := stage.ApproveBy(d, apply.Options{Kinds: t.policy.Kinds, Deferred: apply.DeferredByKinds, Allowed: t.policy.MayRun})
	if err != nil {
		return err
	}
	ran, err := stage.Run(ctx, k.Command, ok, stage.RunOptions{KeepGoing: true})
	if err != nil {
		return err
	}
	if ran.Plan.Continues() {
		ran = ran.Leave("a watch does what its plan shows: the next SIGHUP or apply continues", nil)
	}
	done.Report = ran.Finish()
	done.Report.Policies = d.Plan.Policies
	ran.Conclude(k.Command)
	return nil
}

// attempt is one repair.
type attempt struct {
	connected stage.Connected
	keeper    Keeper
	source    *Source
	policy    repair.Policy
}

func (t attempt) planner() draft.Planner { return t.connected.Planner(t.keeper.Command) }

// draft plans, leaves out the steps that are not approved, and plans again, until all
// remaining steps are approved. The plan is nil when nothing is left to do. What cannot
// be planned is left out too. done gets what was left out.
func (t attempt) draft(ctx context.Context, done *Repaired) (none stage.Drafted, err error) {
	left, policy, prior := t.connected.Apart(), t.policy, t.policy.Prior
	for _, addr := range hosts.Today(t.source.Manifest, prior, t.connected.Open) {
		left[addr] = "an action may still run there, and its host cannot be queried"
	}
	done.Refused = maps.Clone(left)
	for {
		s, nothing := policy.Select(left)
		if done.Planned = s.Targets; nothing {
			return none, nil
		}
		in := t.source.inputs(prior)
		in.Selection = s
		o := t.planner().Options(in)
		o.Doubt, o.FromRegistry, o.Signed = policy.Addresses, t.source.images.Resolver.FromRegistry,
			images.Signed(t.source.Manifest.Types().All())
		asked, m, err := t.planner().Clients(ctx, in.Basis(t.source.images), nil, &o)
		if err != nil {
			return none, err
		}
		if !policy.Whole {
			m, _ = observe.ExpandRecorded(m, prior)
		}
		p, diags := plan.Build(ctx, m, prior, asked, o)
		if diags.HasErrors() {
			if ctx.Err() != nil {
				return none, context.Cause(ctx)
			}
			if done.Broken = t.keeper.Command.Work.Secrets.Diagnostics(diags); !policy.Leave(left, diags) {
				return none, done.Broken
			}
			continue
		}
		more := policy.NotCovered(p)
		if len(more) == 0 {
			if repair.Nothing(p, prior) {
				return none, nil
			}
			because := hosts.Left(p, nil)
			maps.Copy(because, done.Refused)
			return stage.DraftBy(ctx, t.keeper.Command, t.connected, p, m, asked, because)
		}
		maps.Copy(done.Refused, more)
		maps.Copy(left, more)
	}
}
