package apply_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"deployster/apply"
	"deployster/apply/fresh"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/latehost"
	"deployster/plan/planfile"
	"deployster/protocol"
	"deployster/state"
)

// engine is the whole tool but for its command line and containerd: manifests,
// plans, plan files, applies and a state file, over a world in memory.
type engine struct {
	world *runnertest.World
	fake  *runnertest.Fake
	dir   string
	opts  apply.Options
	only  plan.Selection
	doubt []string
	pins  map[string]router.Pin // of hosts
	waves turns.Waves
	dead  atomic.Bool // the process has died in dies: what it does since is of no account
	// runner stands in for fake where a test wants to see or bend what is run.
	runner runner.Runner
	wrap   func(apply.Journal) apply.Journal // nil = the journal as it is
	// initOn returns where the init of images is run; nil = here.
	initOn func(context.Context, typeclient.Target) (*runner.Host, error)
	// secrets reads the values of secret blocks; nil = there are none.
	secrets func() typeclient.Secrets
}

func newEngine(dir string) *engine {
	e := &engine{world: runnertest.NewWorld(), fake: runnertest.NewFake(), dir: dir}
	e.fake.Add("test/thing:1", e.world.Program)
	e.runner = e.fake
	e.opts = apply.Options{Parallelism: 4, Now: time.Now}
	return e
}

func (e *engine) statePath() string { return filepath.Join(e.dir, "deployster.state.json") }

func (e *engine) load(source string) (*config.Manifest, error) {
	src := config.Sources{Workspace: e.dir, Dir: e.dir, Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(source)}}}
	m, diags := config.Load(src, nil, config.Builtins{Version: "0.1.0", Workspace: e.dir, Home: "/home/me"})
	return m, diags.Err()
}

// reached gives the manifest with what is known of hosts.
func (e *engine) reached(m *config.Manifest, s state.Snapshot) (*config.Manifest, error) {
	if len(e.pins) == 0 {
		return m, nil
	}
	found, late := map[string]protocol.HostFacts{}, latehost.Recorded(m, s)
	for name, pin := range e.pins {
		if pin.Machine != "" {
			found[name] = protocol.HostFacts{Machine: pin.Machine}
		} else {
			delete(late, name) // as where what it is made of is not recorded any more
		}
	}
	m, diags := m.WithHosts(found, late)
	return m, diags.Err()
}

func (e *engine) client(pins map[string]string) *typeclient.Client {
	o := typeclient.Options{Runner: e.runner, Version: "0.1.0", Workspace: e.dir, Pins: pins, Backoff: []time.Duration{}, InitOn: e.initOn}
	if e.secrets != nil {
		o.Secrets = e.secrets()
	}
	return typeclient.New(o)
}

// plan plans, and passes the plan through its file.
func (e *engine) plan(source string) (*plan.Plan, error) {
	m, err := e.load(source)
	if err != nil {
		return nil, err
	}
	snapshot, _, err := state.Load(state.File(e.statePath()))
	if err == nil {
		m, err = e.reached(m, snapshot)
	}
	if err != nil {
		return nil, err
	}
	p, diags := plan.Build(context.Background(), m, snapshot, e.client(nil),
		plan.Options{Version: "0.1.0", Workspace: e.dir, Parallelism: 4, Now: time.Unix(1700000000, 0), Selection: e.only, Doubt: e.doubt,
			Hosts: e.pins})
	if diags.HasErrors() {
		return nil, diags
	}
	var file bytes.Buffer
	if err := planfile.Write(&file, p); err != nil {
		return nil, err
	}
	return planfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
}

// apply carries a plan out.
func (e *engine) apply(ctx context.Context, p *plan.Plan) (*apply.Report, error) {
	inputs, diags := config.Pinned(p.Variables)
	if diags.HasErrors() {
		return nil, diags
	}
	m, diags := config.Load(p.Sources, inputs, config.Builtins{Version: "0.1.0", Workspace: e.dir, Home: "/home/me"})
	if diags.HasErrors() {
		return nil, diags
	}
	store, err := state.Open(ctx, state.File(e.statePath()), state.Options{Command: "test"})
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	if err := fresh.Check(p, store.Snapshot()); err != nil {
		return nil, err
	}
	journal, err := store.Begin(p.ID, cmp.Or(p.Lineage, store.Snapshot().Lineage))
	if err != nil {
		return nil, err
	}
	facts := apply.Journal(journal)
	if e.wrap != nil {
		facts = e.wrap(journal)
	}
	if e.opts.Waves, err = turns.NewSchedule(e.waves, p, m); err != nil {
		return nil, err
	}
	report, err := apply.Run(ctx, p, m, store.Snapshot(), facts, e.client(p.Images), e.opts)
	return report, errors.Join(err, journal.Finish(state.StatusOK))
}

// do plans and applies.
func (e *engine) do(t interface{ Fatal(...any) }, source string) *apply.Report {
	p, err := e.plan(source)
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// thing writes a resource block.
func thing(name string, config ...string) string {
	body := ""
	for i := 0; i+1 < len(config); i += 2 {
		body += fmt.Sprintf("    %s = %s\n", config[i], config[i+1])
	}
	return fmt.Sprintf("resource %q {\n  type = \"test/thing:1\"\n  config = {\n%s  }\n}\n", name, body)
}

// summaries gives the problems of a report in short.
func summaries(list diag.Diagnostics) []string {
	var s []string
	for _, d := range list {
		s = append(s, d.Address+": "+d.Summary)
	}
	return s
}

func replaced(source, old, now string) string { return strings.ReplaceAll(source, old, now) }

// encode writes a value down, for messages.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
