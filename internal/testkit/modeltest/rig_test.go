package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/apply"
	"deployster/apply/fresh"
	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/testkit/modeltest"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// rig is the tool, but for its command line, over a world.
type rig struct {
	dir    string
	things modeltest.Store
	tracer *tracer
	fake   *runnertest.Fake // nil = it is another runner, and there is no watch

	mu   sync.Mutex
	told []string // the secrets that nobody may see
}

// newRig makes one in a directory, with things in memory.
func newRig(dir string) (*rig, error) {
	things := &memory{things: map[string]modeltest.Thing{}}
	fake := runnertest.NewFake()
	program := func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		return modeltest.Program(things, s.Args, stdin, stdout, stderr)
	}
	for _, kind := range modeltest.Kinds() {
		fake.Add(modeltest.Reference(kind), program)
	}
	fake.Add(modeltest.HandImage, program)
	r, err := rigOver(dir, fake, things)
	r.fake = fake
	return r, err
}

// rigOver makes one with any runner.
func rigOver(dir string, runner runner.Runner, things modeltest.Store) (*rig, error) {
	r := &rig{dir: dir, things: things}
	r.tracer = &tracer{inner: runner, journal: r.statePath() + ".journal", told: r.wasTold}
	return r, os.MkdirAll(filepath.Join(dir, "things"), 0o700)
}

func (r *rig) statePath() string { return filepath.Join(r.dir, "state.json") }

func (r *rig) secret(list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, list...)
}

func (r *rig) wasTold(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.told, text)
}

func (r *rig) client(pins map[string]string) *typeclient.Client {
	return typeclient.New(typeclient.Options{Runner: r.tracer, Version: "0.1.0", Workspace: r.dir, Pins: pins, Backoff: []time.Duration{0}})
}

func (r *rig) builtins() config.Builtins {
	return config.Builtins{Version: "0.1.0", Workspace: r.dir, Home: r.dir}
}

// load reads what a step declares.
func (r *rig) load(s *Step) (*config.Manifest, error) {
	root, modules := s.source()
	src := config.Sources{Workspace: r.dir, Dir: r.dir, Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(root)}},
		Modules: map[string][]config.File{}}
	for dir, text := range modules {
		src.Modules[dir] = []config.File{{Path: dir + "/main.hcl", Bytes: []byte(text)}}
	}
	m, diags := config.Load(src, nil, r.builtins())
	return m, diags.Err()
}

// plan plans what a step declares, and gives the bytes of the plan file.
func (r *rig) plan(s *Step, prior state.Snapshot) ([]byte, error) {
	m, err := r.load(s)
	if err != nil {
		return nil, fmt.Errorf("the manifest of a scenario is wrong: %w", err)
	}
	p, diags := plan.Build(context.Background(), m, prior, r.client(nil),
		plan.Options{Version: "0.1.0", Workspace: r.dir, Parallelism: s.Parallelism, Now: time.Now(), Secret: r.secret})
	if diags.HasErrors() {
		return nil, diags
	}
	var file bytes.Buffer
	err = planfile.Write(&file, p)
	return file.Bytes(), err
}

// readPlan reads a plan file, and wants it to be written again as it was.
func readPlan(file []byte) (*plan.Plan, error) {
	p, err := planfile.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	var again bytes.Buffer
	if err := planfile.Write(&again, p); err != nil {
		return nil, err
	}
	if !bytes.Equal(again.Bytes(), file) {
		return nil, errors.New("a plan that is read and written again is another")
	}
	return p, nil
}

// outcome is what an apply came to.
type outcome struct {
	report  *apply.Report
	err     error
	refused error // before anything was done
	crashed bool
}

// apply carries out a plan on the state that is open.
func (r *rig) apply(s *Step, p *plan.Plan, store *state.Store) outcome {
	inputs, diags := config.Pinned(p.Variables)
	if diags.HasErrors() {
		return outcome{refused: diags}
	}
	builtins := r.builtins()
	builtins.PlanTime = p.Created
	m, diags := config.Load(p.Sources, inputs, builtins)
	if diags.HasErrors() {
		return outcome{refused: diags}
	}
	if err := fresh.Check(p, store.Snapshot()); err != nil {
		return outcome{refused: err}
	}
	journal, err := store.Begin(p.ID, p.Lineage)
	if err != nil {
		return outcome{refused: err}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t := r.tracer
	t.mu.Lock()
	t.applying, t.cancel, t.abort = true, cancel, make(chan struct{})
	t.intrude = r.intrude
	t.mu.Unlock()
	report, err := apply.Run(ctx, p, m, store.Snapshot(), traced{journal, t}, r.client(p.Images),
		apply.Options{Parallelism: s.Parallelism, KeepGoing: s.KeepGoing, Abort: t.abort, Secret: r.secret, Now: time.Now})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.applying = false
	out := outcome{report: report, err: err, crashed: t.dead}
	if !out.crashed {
		status := map[apply.Status]state.Status{apply.OK: state.StatusOK, apply.Error: state.StatusError,
			apply.Interrupted: state.StatusInterrupted}[report.Status]
		out.err = errors.Join(err, journal.Finish(status))
	}
	return out
}

// intrude is somebody else, who finds the state locked and can read it.
func (r *rig) intrude() {
	if store, err := state.Open(context.Background(), state.File(r.statePath()), state.Options{Command: "other"}); err == nil ||
		!errors.Is(err, state.ErrLocked) {
		r.tracer.problem("lock", "the state could be opened during an apply, or something else is wrong: %v", err)
		if err == nil {
			_ = store.Close()
		}
	}
	if _, _, err := state.Load(state.File(r.statePath())); err != nil {
		r.tracer.problem("lock", "the state cannot be read during an apply: %v", err)
	}
}

// memory is a Store in memory.
type memory struct {
	mu     sync.Mutex
	things map[string]modeltest.Thing
}

func (m *memory) Load(name string) (modeltest.Thing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.things[name], nil
}

func (m *memory) Save(name string, t modeltest.Thing) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.things[name] = t
	return nil
}

// disturb is somebody who does something by hand.
func (r *rig) disturb(list []Drift, declared []instance) error {
	for _, d := range list {
		t, err := r.things.Load(d.Thing)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(declared, func(i instance) bool { return i.Thing == d.Thing })
		switch {
		case d.How == Vanish:
			t = modeltest.Thing{Made: t.Made}
		case d.How == Spoil && t.There && t.Part > 1:
			t.Config = json.RawMessage(strings.Replace(string(t.Config), `"v":`, `"v":1`, 1))
		case (d.How == Start || d.How == Halt) && t.There && at >= 0 && declared[at].Kind == modeltest.Proud:
			t.Stopped = d.How == Halt
		case d.How == Halve && t.There && t.Part > 1 && at >= 0 && declared[at].Kind == modeltest.Steps:
			t.Part = 1
		case d.How == Restore && at >= 0:
			config, ok := declared[at].plain()
			if !ok {
				continue
			}
			t = modeltest.Thing{There: true, Made: t.Made + 1, Part: 3, Config: config}
			if declared[at].Kind == modeltest.Asker {
				t.Seen = json.RawMessage("{}")
			}
		default:
			continue
		}
		if err := r.things.Save(d.Thing, t); err != nil {
			return err
		}
	}
	return nil
}

// plain is the config of an instance that takes nothing from others.
func (i instance) plain() (json.RawMessage, bool) {
	config := map[string]any{"name": i.Thing, "v": i.V}
	if i.Secret {
		config["s"] = canary
	}
	text, err := json.Marshal(config)
	return text, err == nil && len(i.Uses) == 0
}
