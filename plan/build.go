package plan

import (
	"context"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/findings"
	"deployster/plan/query"
	"deployster/plan/subject"
	"deployster/plan/types"
	"deployster/state"
)

// Prober queries images and cannot change anything.
type Prober = query.Prober

// Options are the settings of Build.
type Options = query.Options

// Event is something that Build did; the others are its kinds.
type (
	Event   = query.Event
	Asking  = query.Asking
	Decided = query.Decided
	Failed  = query.Failed
)

// builder is the work in progress of one Build.
type builder struct {
	*subject.Subject
	*findings.List
	*types.Types
	*decided
	session    *query.Session
	identified identified

	circles      map[string][]string // by address: the resources for which an automatic edge would close a cycle
	failed       map[string]bool     // addresses about which nothing could be decided
	expandFailed bool                // something failed that the instances of blocks follow from: they stay unknown
}

func newBuilder(m *config.Manifest, prior state.Snapshot, p Prober, o Options) *builder {
	x := query.New(m, prior, p, o)
	return &builder{Subject: x.Subject, List: x.Findings, Types: x.Types, decided: newDecided(x.Subject), session: x,
		failed: map[string]bool{}}
}

// Build plans the manifest against the world. The state file only says what was
// removed and what images may compare with; only the image of a resource says
// whether it is valid. With errors Build returns no plan, or one that is Errored:
// it shows what could be decided, and can be neither saved nor applied.
func Build(ctx context.Context, m *config.Manifest, prior state.Snapshot, p Prober, o Options) (*Plan, diag.Diagnostics) {
	b := newBuilder(m, prior, p, o)
	built := build(ctx, b)
	return built, b.Sorted()
}

// build runs the stages of a plan. When a stage fails so that the next cannot run,
// build returns nil, and what was reported says why.
func build(ctx context.Context, b *builder) *Plan {
	if b.Report(nil, "", b.Begin()); b.Failed() {
		return nil
	}
	if b.expand(ctx); b.Failed() && !b.expandFailed {
		return nil
	}
	errors := b.Errors()
	if b.Report(nil, "", b.Check()); b.Errors() > errors {
		return nil
	}
	if b.Ask(ctx, b.Wanted); b.Errors() > errors {
		return nil
	}
	b.AskOthers(ctx)
	addAutoEdges(b)
	b.decideIdentified(ctx)
	b.Report(nil, "", b.Overruled())
	b.removeAll(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case b.Failed():
		return assembler{b}.incomplete()
	}
	built := assembler{b}.assemble(ctx)
	if b.Failed() {
		return nil
	}
	return built
}
