package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/state"
)

const (
	image    = "test/disk:1"
	digest   = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	perFile  = 100 // resources in one manifest
	perChain = 10  // resources of which each needs the one before
)

// world is a Runner with one image, whose things are made by one action. It does
// as little as it can, so that what is measured is the engine.
type world struct {
	mu       sync.Mutex
	there    map[string]bool
	identity bool // its things are named by their configs
	wide     int  // so many more properties are in its schemas, one of them for a secret
}

func newWorld() *world { return &world{there: map[string]bool{}} }

func (*world) Resolve(_ context.Context, reference string) (runner.Image, error) {
	return runner.Image{Reference: reference, Digest: digest}, nil
}

// more are the properties that make its schemas wide.
func (w *world) more() string {
	var b strings.Builder
	for i := range w.wide {
		fmt.Fprintf(&b, `,"p%d":{"type":"string","writeOnly":%t,"description":"what large providers say of each of their many attributes"}`, i, i == 0)
	}
	return b.String()
}

func (w *world) Run(_ context.Context, s runner.Spec) (runner.Result, error) {
	if len(s.Args) == 0 {
		named := ""
		if w.identity {
			named = `"identity":["/name"],`
		}
		return runner.Result{Stdout: []byte(`{"protocol":2,"state_action":{"args":["state"]},` + named +
			`"config_schema":{"type":"object","properties":{"name":{"type":"string","minLength":1},"zone":{"type":"string"},"after":{"type":"object"}` +
			w.more() + `},"required":["name"],"additionalProperties":false},` +
			`"state_schema":{"type":"object","properties":{"id":{"type":"string"},"size":{"type":"integer"}` + w.more() + `},"required":["id","size"]}}`)}, nil
	}
	var in struct{ Config struct{ Name string } }
	if err := json.Unmarshal(s.Stdin, &in); err != nil {
		return runner.Result{}, err
	}
	name := in.Config.Name
	w.mu.Lock()
	there := w.there[name]
	w.there[name] = there || s.Args[0] == "make"
	w.mu.Unlock()
	if s.Args[0] == "make" {
		if s.Ended != nil { // it may wait for a store
			return runner.Result{}, s.Ended(runner.Result{}, nil)
		}
		return runner.Result{}, nil
	}
	if !there {
		return runner.Result{Stdout: []byte(`{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)}, nil
	}
	return runner.Result{Stdout: []byte(`{"status":"VALID","state":{"id":"id of ` + name + `","size":10}}`)}, nil
}

// engine is the tool, but for its command line, over a world.
type engine struct {
	dir     string
	sources config.Sources
	world   *world
	place   state.Place // of the state
}

// newEngine has n resources in chains.
func newEngine(tb testing.TB, n int) *engine {
	tb.Helper()
	return newChains(tb, n, "disk-%[1]d\"\n    after = resource.r%[2]d.state")
}

// newLateEngine has n resources in chains, whose names follow from the states of others.
func newLateEngine(tb testing.TB, n int) *engine {
	tb.Helper()
	e := newChains(tb, n, "disk-%[1]d-${resource.r%[2]d.state.size}\"")
	e.world.identity = true
	return e
}

// newChains has n resources in chains, the names of those that need another in this form.
func newChains(tb testing.TB, n int, needs string) *engine {
	tb.Helper()
	e := &engine{dir: tb.TempDir(), world: newWorld()}
	e.sources, e.place = config.Sources{Workspace: e.dir, Dir: e.dir}, state.File(e.statePath())
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("disk-%d\"", i)
		if i%perChain != 0 {
			name = fmt.Sprintf(needs, i, i-1)
		}
		fmt.Fprintf(&b, "resource \"r%d\" {\n  type = %q\n  config = {\n    zone = var.zone\n    name = \"%s\n  }\n}\n", i, image, name)
		if (i+1)%perFile == 0 || i == n-1 {
			e.sources.Manifests = append(e.sources.Manifests, config.File{Path: fmt.Sprintf("f%d.hcl", i), Bytes: []byte(b.String())})
			b.Reset()
		}
	}
	e.sources.Manifests = append(e.sources.Manifests, config.File{Path: "v.hcl",
		Bytes: []byte("variable \"zone\" {\n  default = \"eu\"\n}\n")})
	return e
}

func (e *engine) statePath() string { return filepath.Join(e.dir, "state.json") }

func (e *engine) load(tb testing.TB, src config.Sources) *config.Manifest {
	tb.Helper()
	m, diags := config.Load(src, nil, config.Builtins{Version: "1", Workspace: e.dir, Home: e.dir})
	if diags.HasErrors() {
		tb.Fatalf("%.2000s", diags.Error())
	}
	return m
}

func (e *engine) client() *typeclient.Client {
	return typeclient.New(typeclient.Options{Runner: e.world, Version: "1", Workspace: e.dir})
}

func (e *engine) plan(tb testing.TB, m *config.Manifest, prior state.Snapshot) *plan.Plan {
	tb.Helper()
	return e.planFor(tb, m, prior, false)
}

// planFor is plan for one that may be only shown.
func (e *engine) planFor(tb testing.TB, m *config.Manifest, prior state.Snapshot, onlyShown bool) *plan.Plan {
	tb.Helper()
	p, diags := plan.Build(context.Background(), m, prior, e.client(),
		plan.Options{Version: "1", Workspace: e.dir, Parallelism: 10, Now: time.Now(), OnlyShown: onlyShown})
	if diags.HasErrors() {
		tb.Fatalf("%.2000s", diags.Error())
	}
	return p
}

func (e *engine) open(tb testing.TB) *state.Store {
	tb.Helper()
	store, err := state.Open(context.Background(), e.place, state.Options{Command: "scale"})
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// run carries out a plan up to where its journal is to be folded.
func (e *engine) run(tb testing.TB, p *plan.Plan, m *config.Manifest, store *state.Store) (*state.Journal, *apply.Report) {
	tb.Helper()
	return e.runWith(tb, p, m, store, apply.Options{Parallelism: 10, Now: time.Now})
}

func (e *engine) runWith(tb testing.TB, p *plan.Plan, m *config.Manifest, store *state.Store, o apply.Options) (*state.Journal, *apply.Report) {
	tb.Helper()
	journal, err := store.Begin(p.ID, p.Lineage)
	if err != nil {
		tb.Fatal(err)
	}
	report, err := apply.Run(context.Background(), p, m, store.Snapshot(), journal, e.client(), o)
	if err != nil || report.Status != apply.OK {
		tb.Fatal(report.Status, err)
	}
	return journal, report
}

// made makes all that is declared, and gives the state that is left.
func (e *engine) made(tb testing.TB, m *config.Manifest) state.Snapshot {
	tb.Helper()
	store := e.open(tb)
	p := e.plan(tb, m, store.Snapshot())
	journal, _ := e.run(tb, p, m, store)
	finish(tb, journal, store)
	return store.Snapshot()
}

func finish(tb testing.TB, j *state.Journal, s *state.Store) {
	tb.Helper()
	if err := j.Finish(state.StatusOK); err != nil {
		tb.Fatal(err)
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}
