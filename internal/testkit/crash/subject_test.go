//go:build linux && amd64

package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/testkit/crash"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/plan/repair"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// The subject is what is crashed: the whole tool but for its command line and
// containerd, in a process of its own. It is this test's own program, told by
// the environment to be it.
const (
	subjectVariable = "DEPLOYSTER_CRASH_SUBJECT"
	subjectQuiet    = "DEPLOYSTER_CRASH_QUIET"  // it is traced by somebody who can do with fewer stops
	subjectWait     = "DEPLOYSTER_CRASH_WAIT"   // how long it waits for the lock
	subjectPlan     = "DEPLOYSTER_CRASH_PLAN"   // where it saves its plan, instead of applying it
	subjectKey      = "DEPLOYSTER_CRASH_KEY"    // what its files are encrypted with; "" = they are not
	subjectHold     = "DEPLOYSTER_CRASH_HOLD"   // a file that its actions wait for
	subjectRepair   = "DEPLOYSTER_CRASH_REPAIR" // it may do what a watch may: bring back what was recorded
)

func TestMain(m *testing.M) {
	if os.Getenv(subjectVariable) == "" {
		os.Exit(runTests(m))
	}
	parallelism, err := strconv.Atoi(os.Args[4])
	if err == nil && os.Getenv(subjectQuiet) != "" {
		err = crash.Quiet()
	}
	switch {
	case err != nil:
	case os.Getenv(subjectPublish) != "":
		err = publishing(os.Args[1], os.Args[2], os.Args[3])
	case os.Getenv(subjectRounds) != "":
		err = appliesInRounds(os.Args[1], os.Args[3], os.Getenv(subjectRounds))
	case os.Getenv(subjectOperation) != "":
		err = operates(os.Args[1], os.Args[3], os.Getenv(subjectOperation))
	default:
		err = subject(os.Args[1], os.Args[2], os.Args[3], parallelism)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// runTests gives the tests a directory for temporary files of their own, since a subject
// that is killed leaves its files.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "crash")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.Run()
}

// subject plans the manifest and applies the plan, with its state in dir. What
// it was told to be recorded, and what it recovered, it prints.
func subject(dir, manifest, log string, parallelism int) error {
	ctx := context.Background()
	source, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	src := config.Sources{Workspace: dir, Dir: dir, Manifests: []config.File{{Path: "main.hcl", Bytes: source}}}
	m, diags := config.Load(src, nil, config.Builtins{Version: "0.1.0", Workspace: dir})
	if diags.HasErrors() {
		return diags
	}
	wait, _ := time.ParseDuration(os.Getenv(subjectWait)) // not given: not at all
	began := time.Now()
	store, err := state.Open(ctx, state.File(filepath.Join(dir, "state.json")),
		state.Options{Command: "subject", Wait: wait, Keys: ring(os.Getenv(subjectKey))})
	fmt.Printf("opened after %s\nopened at: %s\n", time.Since(began), time.Now().Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	if r := store.Recovery(); r != nil {
		for _, f := range r.InFlight {
			fmt.Printf("recovered: %s\n", f.Key)
		}
	}
	fake := runnertest.NewFake()
	things := &world{path: log}
	fake.Add("test/thing:1", things.program)
	fake.Add("test/known:1", things.known)
	fake.Add("test/kept:1", things.kept)
	fake.Add("test/told:1", things.told)
	client := typeclient.New(typeclient.Options{Runner: fake, Version: "0.1.0", Workspace: dir, Backoff: []time.Duration{}})
	p, diags := plan.Build(ctx, m, store.Snapshot(), client, plan.Options{Version: "0.1.0", Workspace: dir, Parallelism: parallelism,
		Now: time.Now()})
	if diags.HasErrors() {
		return diags
	}
	if file := os.Getenv(subjectPlan); file != "" {
		var content bytes.Buffer
		if err := planfile.Write(&content, p); err != nil {
			return err
		}
		return durable.WriteFileHere(file, content.Bytes(), 0o600)
	}
	journal, err := store.Begin(p.ID, p.Lineage)
	if err != nil {
		return err
	}
	o := apply.Options{Parallelism: parallelism, Now: time.Now}
	if os.Getenv(subjectRepair) != "" {
		o.Kinds, o.Deferred, o.KeepGoing = []plan.Change{repair.Kind}, apply.DeferredByKinds, true
	}
	report, err := apply.Run(ctx, p, m, store.Snapshot(), acknowledged{journal}, client, o)
	status := state.StatusOK
	if report.Status != apply.OK {
		status = state.StatusError
	}
	err = errors.Join(err, journal.Finish(status))
	if err == nil && report.Status != apply.OK {
		err = diag.Diagnostics(report.Problems)
	}
	if err == nil {
		fmt.Println("finished")
	}
	return err
}

// acknowledged prints what the journal says is recorded.
type acknowledged struct{ *state.Journal }

func (a acknowledged) ActionStarted(s state.Start) error {
	err := a.Journal.ActionStarted(s)
	if err == nil {
		fmt.Printf("started: %s\n", s.Key)
	}
	return err
}

func (a acknowledged) Valid(addr string, e state.Entry) error {
	err := a.Journal.Valid(addr, e)
	if err == nil {
		fmt.Printf("valid: %s %s\n", addr, e.State)
	}
	return err
}

func (a acknowledged) Moved(moves []moves.Move) error {
	err := a.Journal.Moved(moves)
	for _, m := range moves {
		if err == nil {
			fmt.Printf("moved: %s>%s\n", m.From, m.To)
		}
	}
	return err
}

func (a acknowledged) Removed(addr string) error {
	err := a.Journal.Removed(addr)
	if err == nil {
		fmt.Printf("removed: %s\n", addr)
	}
	return err
}

// world is a type whose things are what its log says: each effect is one line,
// appended and synced.
type world struct {
	mu   sync.Mutex
	path string
}

// effect is one line of a world's log.
type effect struct {
	Key    string          `json:"key"`
	Action string          `json:"action"`
	Name   string          `json:"name"`
	Config json.RawMessage `json:"config"`
}

// effects reads a world's log; no file is an empty world.
func effects(path string) ([]effect, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []effect
	for line := range strings.Lines(string(data)) {
		var e effect
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, e)
	}
	return out, err
}

// things folds effects into what is there.
func things(list []effect) map[string]string {
	out := map[string]string{}
	for _, e := range list {
		if out[e.Name] = string(e.Config); e.Action == "remove" {
			delete(out, e.Name)
		}
	}
	return out
}

// known is the type of the same things that says what identifies them: their id.
func (w *world) known(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"identity":["/id"],"state_action":{"args":["state"]},
"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{}}}}`)
		return 0
	}
	var in protocol.ActionInput
	var config struct{ ID string }
	if json.NewDecoder(stdin).Decode(&in) != nil || json.Unmarshal(in.Config, &config) != nil {
		return 90
	}
	in.Name = config.ID
	named, err := json.Marshal(in)
	if err != nil {
		return 91
	}
	return w.program(ctx, s, bytes.NewReader(named), stdout, stderr)
}

func (w *world) program(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var in protocol.ActionInput
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"state_action":{"args":["state"]}}`)
		return 0
	}
	if hold := os.Getenv(subjectHold); hold != "" && s.Args[0] != "state" {
		for _, err := os.Stat(hold); err != nil; _, err = os.Stat(hold) {
			time.Sleep(time.Millisecond)
		}
	}
	list, err := effects(w.path)
	if err == nil && s.Args[0] != "state" {
		err = w.append(effect{Key: in.IdempotencyKey, Action: s.Args[0], Name: in.Name, Config: in.Config})
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 7
	}
	if s.Args[0] == "state" {
		_, _ = io.WriteString(stdout, look(things(list), in.StateInput))
	}
	return 0
}

// append makes an effect last. It either is there or is not.
func (w *world) append(e effect) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// look answers the state action.
func look(things map[string]string, in protocol.StateInput) string {
	have, there := things[in.Name]
	stale := func(action string) string {
		was := ""
		if there {
			was = fmt.Sprintf(`"staleState":%s,`, have)
		}
		return fmt.Sprintf(`{"status":"STALE",%s"actions":[{"name":%q,"args":[%q]}]}`, was, action, action)
	}
	switch {
	case in.Intent == protocol.Absent && !there:
		return `{"status":"MISSING"}`
	case in.Intent == protocol.Absent:
		return stale("remove")
	case !there:
		return stale("make")
	case have == string(in.Config):
		return fmt.Sprintf(`{"status":"VALID","state":%s}`, have)
	}
	return stale("change")
}
