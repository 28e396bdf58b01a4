package decide

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/objects"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/state"
	"deployster/state/moves"
)

// removeAll decides about the entries in the state file that no manifest declares.
// All that it needs is in the entries, so that neither protection nor the way to
// remove an object is lost with its block.
func (d *Decisions) removeAll(ctx context.Context) {
	var group errgroup.Group
	x := d.session
	group.SetLimit(max(1, x.Options.Parallelism))
	open := slices.DeleteFunc(x.Subject.Removed(), func(addr string) bool {
		return !x.Subject.Wanted(addr) || d.steps[addr] != nil || d.failed[addr]
	})
	for _, addr := range open {
		entry := x.Subject.Prior.Resources[addr]
		group.Go(func() error {
			step, err := d.remove(ctx, addr, entry)
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.failed[addr] = err != nil; err != nil {
				x.Findings.Report(nil, "", diag.From("Cannot remove resource "+addr, err))
				return nil
			}
			d.steps[addr] = step
			x.Progress(query.Decided{Address: addr, Change: step.Shown()})
			return nil
		})
	}
	_ = group.Wait() // the workers report through diags
}

// remove decides about one entry that no manifest declares.
func (d *Decisions) remove(ctx context.Context, addr string, entry state.Entry) (*change.Step, error) {
	x, selection := d.session, d.session.Subject.Selection
	step := x.RecordedStep(entry)
	step.Part = &change.Forget{}
	block := x.Subject.RemovedBlock(addr)
	end, why := d.Matched.End(addr), selection.WhyEnds()
	if was, number := moves.RecordedAt(addr); number > 0 {
		why = reason.New(reason.AnotherObject, was)
	}
	switch {
	case selection.RefreshOnly:
		step.Part, step.Reason = &change.Left{}, reason.New(reason.Undeclared).With(reason.New(reason.OnlyRecords))
		return step, nil
	case block != nil && block.To != "":
		step.ReadOnly, step.Reason = entry.ReadOnly, reason.New(reason.Goes, block.Range.String(), block.To)
		return step, nil
	case block == nil && !selection.Destroy && arrived(x.Subject.Prior, addr) != nil:
		step.Part, step.Reason = &change.Left{}, reason.New(reason.Unarrived, arrived(x.Subject.Prior, addr).From.State)
		return step, nil
	case end.Forget && end.Owner != "":
		step.Reason = reason.New(reason.ObjectOwned).With(objects.OwnedBy(end.Owner, end.Unsure))
		return step, nil
	case block != nil && !block.Destroy:
		step.ReadOnly = entry.ReadOnly
		step.Reason = reason.New(reason.RemovedBlock, block.Range.String()).With(reason.New(reason.KeptByBlock), leftover(entry))
		return step, nil
	case x.Hosts.OutOfReach(entry) != nil:
		step.Reason = why.With(reason.New(reason.KeptOutOfReach).With(x.Hosts.OutOfReach(entry)), leftover(entry))
		return step, nil
	case entry.OnRemove == "forget" && block == nil && !entry.ReadOnly: // nothing is destroyed, so prevent_destroy does not apply
		step.Reason = why.With(selection.WhyForgotten(addr), leftover(entry))
		return step, nil
	case entry.PreventDestroy:
		protected := "it was last applied with prevent_destroy = true"
		if entry.Incomplete() {
			protected = reason.New(reason.Unfinished).Words() + ", with prevent_destroy = true, so a part of it may exist"
		}
		return nil, &diag.Diagnostic{Severity: diag.Error, Summary: "Protected resource would be removed", Address: addr,
			Detail: "It would be destroyed, because " + why.Words() + ", but " + protected +
				". Put its block back as it was; to remove it, first apply it with prevent_destroy = false, or forget it with a " +
				"removed block and destroy = false."}
	case entry.ReadOnly:
		step.ReadOnly, step.Reason = true, why.With(reason.New(reason.KeptReadOnly))
		return step, nil
	}
	ty, err := x.Prober.Init(ctx, step.Target(addr))
	if err != nil {
		return nil, err
	}
	step.Init = ty
	if !ty.Absent {
		step.Reason = why.With(reason.New(reason.KeptUnremovable), leftover(entry))
		return step, nil
	}
	return d.destroy(ctx, addr, step, entry, why)
}

// destroy queries an entry that its image can remove, and destroys what is left of it. why is the reason.
func (d *Decisions) destroy(ctx context.Context, addr string, step *change.Step, entry state.Entry,
	why *reason.Reason) (*change.Step, error) {
	x := d.session
	step.Part = &change.Destroy{}
	q := x.Query(addr, step, entry)
	o := x.Observe(ctx, &q, &entry, d.recordedScope())
	if o.Err != nil {
		return step.OrLeft(why, o.Err)
	}
	step.Take(o)
	p, destroys := step.Part.(*change.Destroy)
	if !destroys {
		step.Reason = why.With(reason.New(reason.GoneAlready))
		if entry.Incomplete() {
			step.Reason = why.With(reason.New(reason.NothingLeft))
		}
		return step, nil
	}
	step.Reason, p.NotCreated = why, entry.Adopted
	p.CurrentMounts, step.Notes = x.Plugs.Compare(ctx, x.Workdir, step.Settings.Host, step.Mounts, step.Init)
	if block := x.Subject.RemovedBlock(addr); block != nil {
		step.Reason = reason.New(reason.RemovedBlock, block.Range.String())
	}
	if entry.Incomplete() {
		step.Reason = step.Reason.With(reason.New(reason.AlsoUnfinished))
	}
	return step, nil
}

// arrived returns how an entry came from another state, if no apply has ended since that declared it; nil = it did not.
func arrived(s state.Snapshot, addr string) *state.Transferred {
	if came := s.Came(addr); came != nil && !came.Seen {
		return came
	}
	return nil
}

// leftover warns that a part of an object may exist, where it is only forgotten; nil = none may.
func leftover(entry state.Entry) *reason.Reason {
	if !entry.Incomplete() {
		return nil
	}
	return reason.New(reason.Leftover)
}
