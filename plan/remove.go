package plan

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/plan/things"
	"deployster/state"
	"deployster/state/moves"
)

// removeAll decides about the entries in the state file that no manifest declares.
// All that it needs is in the entries, so that neither protection nor the way to
// remove a thing is lost with its block.
func (b *builder) removeAll(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(max(1, b.session.Options.Parallelism))
	open := slices.DeleteFunc(b.Removed(), func(addr string) bool { return !b.Wanted(addr) || b.steps[addr] != nil || b.failed[addr] })
	for _, addr := range open {
		entry := b.Prior.Resources[addr]
		group.Go(func() error {
			step, err := b.remove(ctx, addr, entry)
			b.decided.mu.Lock()
			defer b.decided.mu.Unlock()
			if b.failed[addr] = err != nil; err != nil {
				b.Report(nil, "", diag.From("Cannot remove resource "+addr, err))
				return nil
			}
			b.steps[addr] = step
			b.session.Progress(Decided{Address: addr, Change: step.Shown()})
			return nil
		})
	}
	_ = group.Wait() // the workers report through diags
}

// remove decides about one entry that no manifest declares.
func (b *builder) remove(ctx context.Context, addr string, entry state.Entry) (*Step, error) {
	step := b.session.RecordedStep(entry)
	step.Part = &change.Forget{}
	block := b.RemovedBlock(addr)
	end, why := b.identified.ends[addr], b.Selection.WhyEnds()
	if was, number := moves.RecordedAt(addr); number > 0 {
		why = reason.New(reason.AnotherObject, was)
	}
	switch {
	case b.Selection.RefreshOnly:
		step.Part, step.Reason = &change.Left{}, reason.New(reason.Undeclared).With(reason.New(reason.OnlyRecords))
		return step, nil
	case end.Forget && end.Owner != "":
		step.Reason = reason.New(reason.ObjectOwned).With(things.IsOf(end.Owner, end.Unsure))
		return step, nil
	case block != nil && !block.Destroy:
		step.ReadOnly = entry.ReadOnly
		step.Reason = reason.New(reason.RemovedBlock, block.Range.String()).With(reason.New(reason.KeptByBlock), leftover(entry))
		return step, nil
	case b.session.Hosts.Away(entry) != nil:
		step.Reason = why.With(reason.New(reason.KeptOutOfReach).With(b.session.Hosts.Away(entry)), leftover(entry))
		return step, nil
	case entry.OnRemove == "forget" && block == nil && !entry.ReadOnly: // nothing is destroyed, so prevent_destroy does not apply
		step.Reason = why.With(b.Selection.WhyForgotten(addr), leftover(entry))
		return step, nil
	case entry.PreventDestroy:
		protected := "it was last applied with prevent_destroy = true"
		if entry.Incomplete() {
			protected = unfinished + ", with prevent_destroy = true, so a part of it may exist"
		}
		return nil, &diag.Diagnostic{Severity: diag.Error, Summary: "Protected resource would be removed", Address: addr,
			Detail: "It would be destroyed, because " + why.Words() + ", but " + protected + ". Put its block back as it was; to remove it, " +
				"first apply it with prevent_destroy = false, or forget it with a removed block and destroy = false."}
	case entry.ReadOnly:
		step.ReadOnly, step.Reason = true, why.With(reason.New(reason.KeptReadOnly))
		return step, nil
	}
	ty, err := b.session.Prober.Init(ctx, step.Target(addr))
	if err != nil {
		return nil, err
	}
	step.Init = ty
	if !ty.Absent {
		step.Reason = why.With(reason.New(reason.KeptUnremovable), leftover(entry))
		return step, nil
	}
	step.Part = &change.Destroy{}
	q := b.session.Query(addr, step, entry)
	o := b.session.Observe(ctx, &q, &entry, b.asRecorded())
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
	step.Reason, p.NotMade = why, entry.Adopted
	p.Today, step.Notes = b.session.Plugs.Compare(ctx, b.session.Workdir, step.Settings.Host, step.Mounts, step.Init)
	if block != nil {
		step.Reason = reason.New(reason.RemovedBlock, block.Range.String())
	}
	if entry.Incomplete() {
		step.Reason = step.Reason.With(reason.New(reason.AlsoUnfinished))
	}
	return step, nil
}

// leftover warns that a part of a thing may exist, where it is only forgotten; nil = none may.
func leftover(entry state.Entry) *reason.Reason {
	if !entry.Incomplete() {
		return nil
	}
	return reason.New(reason.Leftover)
}

// removalEdges returns the edges by which a thing is removed only after its recorded
// dependants are removed, or changed so that they no longer depend on it.
func (b assembler) removalEdges() []Edge {
	gone := map[string]bool{}
	for _, addr := range b.Removed() {
		gone[addr] = b.steps[addr] != nil
	}
	var edges []Edge
	for dependant, entry := range b.Prior.Resources {
		if _, planned := b.steps[dependant]; !planned {
			continue
		}
		for _, dependency := range entry.Dependencies {
			if gone[dependency] {
				edges = append(edges, Edge{From: dependant, To: dependency, Origin: order.Removal})
			}
		}
	}
	return edges
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Origin, b.Origin))
}
