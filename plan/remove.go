package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/order"
	"deployster/plan/things"
	"deployster/state"
	"deployster/state/moves"
)

// removeAll decides about the entries in the state file that no manifest declares.
// All that it needs is in the entries, so that neither protection nor the way to
// remove a thing is lost with its block.
func (b *builder) removeAll(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(max(1, b.observer.options.Parallelism))
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
			b.observer.progress(Decided{addr, step.Shown()})
			return nil
		})
	}
	_ = group.Wait() // the workers report through diags
}

// remove decides about one entry that no manifest declares.
func (b *builder) remove(ctx context.Context, addr string, entry state.Entry) (*Step, error) {
	step := recordedStep(b, entry)
	step.Part = &change.Forget{}
	block := b.RemovedBlock(addr)
	end, why := b.identified.ends[addr], b.Selection.WhyEnds()
	if was, number := moves.RecordedAt(addr); number > 0 {
		why = config.Reference(was) + " is another thing"
	}
	switch {
	case b.Selection.RefreshOnly:
		step.Part, step.Reason = &change.Left{}, "it is no longer in the configuration: what becomes of it is not for a plan that only records"
		return step, nil
	case end.Forget && end.Owner != "":
		step.Reason = "its thing " + things.IsOf(end.Owner, end.Unsure) + ": it is left as it is"
		return step, nil
	case block != nil && !block.Destroy:
		step.ReadOnly = entry.ReadOnly
		step.Reason = fmt.Sprintf("a removed block says so (%s): it stays as it is%s", block.Range, leftover(entry))
		return step, nil
	case b.observer.hosts.Away(entry) != "":
		step.Reason = why + ", and " + b.observer.hosts.Away(entry) + ": what exists stays as it is" + leftover(entry)
		return step, nil
	case entry.OnRemove == "forget" && block == nil && !entry.ReadOnly: // nothing is destroyed, so prevent_destroy does not apply
		step.Reason = why + b.Selection.WhyForgotten(addr) + leftover(entry)
		return step, nil
	case entry.PreventDestroy:
		protected := "it was last applied with prevent_destroy = true"
		if entry.Incomplete() {
			protected = unfinished + ", with prevent_destroy = true, so a part of it may exist"
		}
		return nil, &diag.Diagnostic{Severity: diag.Error, Summary: "Protected resource would be removed", Address: addr,
			Detail: "It would be destroyed, because " + why + ", but " + protected + ". Put its block back as it was; to remove it, first apply " +
				"it with prevent_destroy = false, or forget it with a removed block and destroy = false."}
	case entry.ReadOnly:
		step.ReadOnly, step.Reason = true, why+", and it was read_only: it is left as it is"
		return step, nil
	}
	ty, err := b.observer.prober.Init(ctx, step.Target(addr))
	if err != nil {
		return nil, err
	}
	step.Init = ty
	if !ty.Absent {
		step.Reason = why + ", and its type cannot remove things: it is left as it is" + leftover(entry)
		return step, nil
	}
	step.Part = &change.Destroy{}
	q := b.observer.query(addr, step, entry)
	o := b.observer.observe(ctx, &q, &entry, b.asRecorded())
	if o.Err != nil {
		return nil, o.Err
	}
	step.Take(o)
	p, destroys := step.Part.(*change.Destroy)
	if !destroys {
		step.Reason = why + ", and it is gone already"
		if entry.Incomplete() {
			step.Reason = why + ", and nothing is left of what an apply began to make"
		}
		return step, nil
	}
	step.Reason, p.NotMade = why, entry.Adopted
	p.Today, step.Notes = b.observer.plugs.Compare(ctx, b.workdir, step.Settings.Host, step.Mounts, step.Init)
	if block != nil {
		step.Reason = fmt.Sprintf("a removed block says so (%s)", block.Range)
	}
	if entry.Incomplete() {
		step.Reason += "; " + unfinished
	}
	return step, nil
}

// leftover warns that a part of a thing may exist, where it is only forgotten.
func leftover(entry state.Entry) string {
	if !entry.Incomplete() {
		return ""
	}
	return "; " + unfinished + ", so something of it may be left"
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
