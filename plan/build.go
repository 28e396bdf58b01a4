package plan

import (
	"context"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/decide"
	"deployster/plan/exclusive"
	"deployster/plan/query"
	"deployster/state"
)

// Prober queries images and cannot change anything.
type Prober = query.Prober

// Options are the settings of Build.
type Options = query.Options

// Event is something that Build did; the others are its kinds.
type (
	Event   = query.Event
	Asking  = query.Querying
	Decided = query.Decided
	Failed  = query.Failed
)

// Build plans the manifest against the world. The state file only reports what was
// removed and what images may compare with; only the image of a resource reports
// whether it is valid. With errors Build returns no plan, or one that is Errored:
// it shows what could be decided, and can be neither saved nor applied.
func Build(ctx context.Context, m *config.Manifest, prior state.Snapshot, p Prober, o Options) (*Plan, diag.Diagnostics) {
	x := query.New(m, prior, p, o)
	built := build(ctx, x)
	return built, x.Findings.Sorted()
}

// build runs the stages of a plan. When a stage fails so that the next cannot run,
// build returns nil, and what was reported reports why.
func build(ctx context.Context, x *query.Session) *Plan {
	s, f := x.Subject, x.Findings
	if f.Report(nil, "", s.Begin()); f.Failed() {
		return nil
	}
	expanded := decide.Expand(ctx, x)
	if f.Failed() && !expanded.Unexpanded {
		return nil
	}
	errors := f.Errors()
	if f.Report(nil, "", s.Check()); f.Errors() > errors {
		return nil
	}
	if x.Types.Query(ctx, s.Wanted); f.Errors() > errors {
		return nil
	}
	x.Types.QueryOthers(ctx)
	cycles := addAutoEdges(x)
	decisions := addProvided(ctx, x, decide.All(ctx, x, expanded))
	f.Report(nil, "", s.Overruled())
	switch {
	case ctx.Err() != nil:
		return nil
	case f.Failed():
		return incomplete(x, decisions, cycles)
	}
	sets := exclusive.Find(ctx, x, decisions)
	if f.Failed() {
		return incomplete(x, decisions, cycles)
	}
	built := whole(ctx, x, decisions.With(sets.Steps), cycles, sets)
	if f.Failed() {
		return nil
	}
	return built
}
