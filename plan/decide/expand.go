package decide

import (
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/observe"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/plan/subject"
)

// Expand decides the resources that the for_each and count of blocks use, so that the
// instances of these blocks become known. It repeats this until all blocks are expanded,
// as one may use the instances of another. What is decided here is not queried again.
// A block whose instances stay unknown because of what the plan does is deferred.
func Expand(ctx context.Context, x *query.Session) *Decisions {
	d, f := noDecisions(x), x.Findings
	for {
		open := d.open()
		if len(open) == 0 {
			return d
		}
		ready := subject.Ready(x.Subject.Manifest, open)
		if len(ready) == 0 {
			f.Report(nil, "", diag.Diagnostics{diag.Errorf("Instances that cannot be known",
				"%s and what it is made of wait for each other. This is a bug in deployster: please report it with the manifest.",
				open[0].Address)})
			return d
		}
		wanted := func(addr string) bool { return ready[addr] }
		if x.Types.Query(ctx, wanted); f.Failed() {
			return d
		}
		if d.decideAll(ctx, wanted); f.Failed() {
			d.Unexpanded = ctx.Err() == nil
			return d
		}
		scope := config.States{}
		for _, p := range open {
			decided := slices.DeleteFunc(slices.Clone(p.Needs), func(a string) bool { return d.steps[a] == nil })
			maps.Copy(scope, observe.States(decided, d.forecast, x.Subject.Prior))
		}
		next, unknown, diags := x.Subject.Manifest.Expand(open, scope)
		for _, u := range unknown {
			if !d.mayBecomeKnown(u) {
				diags = append(diags, u.Failure()...)
			}
		}
		f.Report(nil, "", diags)
		if diags.HasErrors() {
			return d
		}
		x.Subject.Manifest = next
		if f.Report(nil, "", x.Subject.Move()); f.Failed() {
			return d
		}
		x.Subject.Narrow()
		for _, u := range unknown {
			x.Subject.Defer(u.Address, reason.New(reason.UnknownKeys, append([]string{u.Attribute()}, u.Refs...)...))
		}
	}
}

// mayBecomeKnown reports whether the instances of a block may become known: something that they are made of is not just unchanged.
func (d *Decisions) mayBecomeKnown(u config.Unknown) bool {
	return len(u.Facts) > 0 || slices.ContainsFunc(u.Needs, func(addr string) bool {
		s := d.step(addr)
		return s.Change() != observe.Valid || s.Certainty.Open()
	})
}

// open lists the blocks that the plan covers and whose instances are not known yet.
func (d *Decisions) open() []config.Pending {
	s := d.session.Subject
	return slices.DeleteFunc(slices.Clone(s.Manifest.Pending()), func(p config.Pending) bool { return !s.Wanted(p.Address) })
}
