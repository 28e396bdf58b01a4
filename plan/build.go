package plan

import (
	"context"
	"encoding/json"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/artifacts"
	"deployster/plan/findings"
	"deployster/plan/plugs"
	"deployster/plan/subject"
	"deployster/plan/types"
	"deployster/protocol"
	"deployster/state"
)

// Prober asks images about the world and cannot change it. Its errors are
// diagnostics that name the resource. *typeclient.Client is one.
type Prober interface {
	typeschema.Reader
	Init(ctx context.Context, t typeclient.Target) (protocol.Type, error)
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
	CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []typeschema.Violation
	Images() map[string]string // the references resolved so far, with their digests
}

// Options are the settings of Build and Drift.
type Options struct {
	Version     string
	Workspace   string // absolute
	Parallelism int    // images asked at a time
	InWorkers   int    // the same for types with a worker; 0 = Parallelism limits both
	Selection   Selection
	Doubt       []string      // addresses that are asked even where Selection says NoRefresh
	Plugs       []config.Plug // plugs beside those of the manifest, which is empty for destroy
	// Signed returns whose signature the image of an entry must carry; nil = no signature is needed.
	Signed func(reference string) *runner.Verify
	Now    time.Time
	Secret func([]string) // gets each sensitive value before an image sees it; may be nil
	// FromRegistry reports whether the image of a reference came from a registry,
	// from which it can be pulled again; nil = none did.
	FromRegistry func(reference string) bool
	Progress     func(Event)         // called from many goroutines; may be nil
	Artifacts    *artifacts.Resolver // finds the versions of the manifest's artifacts; nil = it has none
	Look         plugs.Look          // finds where plugs lead on hosts; nil = there are no hosts
	Hosts        map[string]router.Pin
	HostsAtOnce  int // hosts worked on at a time; 0 = order.Hosts
}

// Event is something that Build did.
type Event interface{ planEvent() }

// Asking says that the image of a resource is being asked for the state.
type Asking struct{ Address string }

// Decided says which change was decided for a resource.
type Decided struct {
	Address string
	Change  Change
}

// Failed says that nothing could be decided about a resource.
type Failed struct{ Address string }

func (Asking) planEvent()  {}
func (Failed) planEvent()  {}
func (Decided) planEvent() {}

// builder is the work in progress of one Build.
type builder struct {
	*subject.Subject
	*findings.List
	*types.Types
	*decided
	observer   *observer
	identified identified
	workdir    string // where mounts with a relative source begin

	circles      map[string][]string // by address: the resources for which an automatic edge would close a cycle
	failed       map[string]bool     // addresses about which nothing could be decided
	expandFailed bool                // something failed that the instances of blocks follow from: they stay unknown
}

func newBuilder(m *config.Manifest, prior state.Snapshot, p Prober, o Options) *builder {
	x := newObserver(m, prior, p, o)
	return &builder{Subject: x.subject, List: x.findings, Types: x.types, decided: newDecided(x.subject), observer: x,
		workdir: runner.RealDir(o.Workspace), failed: map[string]bool{}}
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
