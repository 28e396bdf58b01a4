package plan

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// Prober can look at the world but not touch it. Its errors are diagnostics
// that name the resource. *typeclient.Client is one.
type Prober interface {
	Init(ctx context.Context, t typeclient.Target) (protocol.Type, error)
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
	CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []typeclient.Violation
	Images() map[string]string // what was resolved so far: reference -> digest
}

// Options steer Build.
type Options struct {
	Version     string
	Workspace   string // absolute
	Parallelism int    // images asked at one time
	InWorkers   int    // the same where a worker answers; 0 = they count as the others
	Selection   Selection
	Now         time.Time
	Secret      func([]string) // told of each sensitive value before an image sees it; nil = nobody
	// FromRegistry says of a reference in Images whether it came from a registry,
	// where it can be had again; nil = none did.
	FromRegistry func(reference string) bool
	Progress     func(Event) // called from many goroutines; nil = nobody watches
}

// Event is something that Build did.
type Event interface{ planEvent() }

// Asking says that a resource's image is being asked for its state.
type Asking struct{ Address string }

// Decided says what became of a resource.
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
	manifest  *config.Manifest
	recorded  state.Snapshot // as the state file has it
	prior     state.Snapshot // the same with the addresses of now
	moves     []state.Move   // what leads from one to the other
	prober    Prober
	options   Options
	plugs     *plugs
	types     map[string]*protocol.Type // address -> what its image said in init; shared by those of whom it said the same
	typeCache map[string]*protocol.Type // reference -> what was said last of it
	mounts    map[string][]runner.Mount // address -> granted plugs
	chosen    map[string]bool           // what the plan is about; nil = everything
	excluded  map[string]bool           // what -exclude leaves out

	finalScope config.States // what is known when all is decided; nil = nobody has asked

	failed       map[string]bool // about which nothing could be decided
	expandFailed bool            // blocks whose instances are not known yet stay so, because of that

	mu    sync.Mutex // guards what follows: resources are asked in parallel
	steps map[string]*Step
	pins  map[string]string // address -> its EntryPin, of those that were asked in parallel
	diags diag.Diagnostics
}

func newBuilder(m *config.Manifest, prior state.Snapshot, p Prober, o Options) *builder {
	size := len(m.Resources())
	b := &builder{manifest: m, recorded: prior, prior: prior, prober: p, options: o, plugs: newPlugs(m.Plugs()),
		types: make(map[string]*protocol.Type, size), typeCache: map[string]*protocol.Type{}, mounts: make(map[string][]runner.Mount, size), steps: make(map[string]*Step, size), pins: make(map[string]string, size), failed: map[string]bool{}}
	return b
}

// Build plans the manifest against the world. The state file only says what
// was removed and what images may compare with; whether a resource is right is
// asked of its image. With errors there is no plan, or one that is Errored: it
// shows what could be decided, and can be neither saved nor applied.
func Build(ctx context.Context, m *config.Manifest, prior state.Snapshot, p Prober, o Options) (*Plan, diag.Diagnostics) {
	b := newBuilder(m, prior, p, o)
	if b.move(); b.diags.HasErrors() {
		return nil, b.sorted()
	}
	if b.choose(); b.diags.HasErrors() {
		return nil, b.sorted()
	}
	if b.expand(ctx); b.diags.HasErrors() && !b.expandFailed {
		return nil, b.sorted()
	}
	errors := b.errors()
	if b.checkSelection(); b.errors() > errors {
		return nil, b.sorted()
	}
	if b.initialise(ctx, b.wanted); b.errors() > errors {
		return nil, b.sorted()
	}
	b.decideAll(ctx, b.wanted)
	b.removeAll(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, b.sorted()
	case b.diags.HasErrors():
		return b.incomplete(), b.sorted()
	}
	built := b.assemble()
	if b.diags.HasErrors() {
		return nil, b.sorted()
	}
	return built, b.sorted()
}

// choose reads the selection, and narrows the plan to it for the first time.
func (b *builder) choose() {
	var known []string
	if b.options.Selection.addresses() > 0 {
		known = b.knownAddresses()
	}
	selection, diags := b.options.Selection.normal(known)
	b.report(nil, "", diags)
	b.options.Selection = selection
	b.narrow()
}

// initialise asks the images of the wanted resources what they are, and grants
// plugs. Nobody is asked twice, and all are through before any is asked for
// its state. Of the resources of one type the first by its address is asked
// first: whether its answer is for the others too is the image's to say, and
// must not hang on which of them is quicker.
func (b *builder) initialise(ctx context.Context, wanted func(addr string) bool) {
	var first, others []*config.Resource
	seen, typeOf := map[string]bool{}, make(map[string]string, len(b.manifest.Resources()))
	for _, r := range b.manifest.Resources() {
		typeOf[r.Address] = r.TypeRef
		_, done := b.types[r.Address]
		switch {
		case done || !wanted(r.Address):
		case seen[r.TypeRef]:
			others = append(others, r)
		default:
			seen[r.TypeRef] = true
			first = append(first, r)
		}
	}
	b.initEach(ctx, first)
	b.initEach(ctx, others)
	for _, r := range slices.Concat(first, others) {
		if ty, ok := b.types[r.Address]; ok {
			b.report(r, "", requireAliases(r, *ty, func(addr string) string { return typeOf[addr] }))
		}
	}
}

func (b *builder) initEach(ctx context.Context, resources []*config.Resource) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(max(1, b.options.Parallelism), len(resources)) {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(len(resources)); i = next.Add(1) {
				b.init(ctx, resources[i-1])
			}
		})
	}
	wait.Wait()
}

func (b *builder) init(ctx context.Context, r *config.Resource) {
	ty, err := b.prober.Init(ctx, typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull, Verify: r.Verify})
	if err != nil {
		b.report(r, "Cannot initialise", diag.From("Cannot initialise "+r.TypeRef, err))
		return
	}
	mounts, diags := b.plugs.grant(r, ty)
	b.report(r, "", diags)
	b.mu.Lock()
	defer b.mu.Unlock()
	shared := b.typeCache[r.TypeRef]
	if shared == nil || !reflect.DeepEqual(*shared, ty) {
		said := ty // only this one has to outlive the call
		shared = &said
		b.typeCache[r.TypeRef] = shared
	}
	b.types[r.Address], b.mounts[r.Address] = shared, mounts
}

// typeOf is what the image of a resource said in init, nothing when it was not
// asked.
func (b *builder) typeOf(addr string) protocol.Type {
	if ty := b.types[addr]; ty != nil {
		return *ty
	}
	return protocol.Type{}
}

// decideAll visits the wanted resources in dependency order, in parallel. One that
// cannot be asked does not keep the others from being asked, so that one run
// shows every problem; those that depend on it are left out.
func (b *builder) decideAll(ctx context.Context, wanted func(addr string) bool) {
	size := len(b.manifest.Resources())
	resources, before := make(map[string]*config.Resource, size), make(graph.Graph, size)
	for _, r := range b.manifest.Resources() {
		if b.steps[r.Address] != nil || !wanted(r.Address) || b.failed[r.Address] || b.expandFailed && r.Waits {
			continue
		}
		resources[r.Address] = r
		before[r.Address] = slices.DeleteFunc(predecessors(r), func(addr string) bool { return b.steps[addr] != nil })
	}
	b.visit(ctx, resources, before, func(r *config.Resource) bool {
		step, pin := b.decideAndTell(ctx, r), EntryPin(b.recorded, r.Address)
		b.mu.Lock()
		defer b.mu.Unlock()
		if step == nil {
			b.failed[r.Address] = true
			return false
		}
		b.steps[r.Address], b.pins[r.Address] = step, pin
		return true
	})
	if ctx.Err() != nil {
		b.report(nil, "", diag.Diagnostics{diag.Errorf("Interrupted", "The plan was not finished. Nothing was changed.")})
	}
}

// decideAndTell is decide, and tells what became of it.
func (b *builder) decideAndTell(ctx context.Context, r *config.Resource) *Step {
	step := b.decide(ctx, r)
	if step == nil {
		b.progress(Failed{r.Address})
	} else {
		b.progress(Decided{r.Address, step.Change})
	}
	return step
}

// report adds diagnostics, with the place of the resource where they have none.
func (b *builder) report(r *config.Resource, summary string, diags diag.Diagnostics) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range diags {
		if d.Summary == "" {
			d.Summary = summary
		}
		if r != nil {
			if d.Address == "" {
				d.Address = r.Address
			}
			if d.Snippet == nil {
				at := d.Range
				if at == nil {
					at = &r.Range
				}
				b.manifest.Diagnose(d, at)
			}
		}
		b.diags = append(b.diags, d)
	}
}

// sorted gives the diagnostics in an order that does not depend on timing.
func (b *builder) sorted() diag.Diagnostics {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.diags, compareDiagnostics)
	return b.diags
}

func (b *builder) secret(s *Step) {
	if b.options.Secret != nil && len(s.Sensitive) > 0 {
		b.options.Secret(Secrets(s.Config, s.Sensitive))
	}
}

func (b *builder) progress(e Event) {
	if b.options.Progress != nil {
		b.options.Progress(e)
	}
}

// look gives the expectation that a finished step leaves for its dependants.
func (b *builder) look(addr string) View {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.steps[addr]; ok {
		return s.View()
	}
	return View{Partial: true}
}

// predecessors lists what a resource waits for, each once, sorted.
func predecessors(r *config.Resource) []string {
	set := map[string]bool{}
	for _, e := range r.Edges {
		set[e.To] = true
	}
	return slices.Sorted(maps.Keys(set))
}
