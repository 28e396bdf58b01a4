package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// guards is a host that guards actions, and a log of all that happens.
type guards struct {
	world   *runnertest.World
	verdict runner.Verdict // of what is to be kept
	lost    error          // of the settlement
	refuses error          // to arm

	mu   sync.Mutex
	log  []string
	keys []string // idempotency keys of actions

	blind bool // the type accepts no unknown values: what waits is not queried early
}

func (g *guards) say(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = append(g.log, fmt.Sprintf(format, args...))
}

func (g *guards) Arm(_ context.Context, h runner.Host, group runner.Group) error {
	g.say("arm %s %s %v", h.Name, group.After, group.Resources)
	return g.refuses
}

func (g *guards) Protect(_ context.Context, t typeclient.Target, _ protocol.Type, _ protocol.ActionInput, _ string, order int) error {
	g.say("protect %s %d", t.Address, order)
	return nil
}

func (g *guards) Settle(_ context.Context, _ runner.Host, group runner.Group, keep bool) (runner.Settlement, error) {
	g.say("settle %v %v", group.Resources, keep)
	if keep && g.verdict == runner.Confirmed || g.lost != nil {
		return runner.Settlement{Verdict: runner.Confirmed}, g.lost
	}
	for _, name := range group.Resources {
		g.world.Set(name, "")
	}
	return runner.Settlement{Verdict: runner.Undone}, nil
}

func (g *guards) Dismiss(context.Context, runner.Host, string) error { return nil }

// program is the type of things, whose actions on those named g... are guarded.
func (g *guards) program(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	raw, err := io.ReadAll(stdin)
	if err != nil {
		return 1
	}
	var in struct {
		Name           string
		IdempotencyKey string `json:"idempotency_key"`
	}
	_ = json.Unmarshal(raw, &in)
	if in.IdempotencyKey != "" {
		g.say("act %s", in.Name)
		g.mu.Lock()
		g.keys = append(g.keys, in.IdempotencyKey)
		g.mu.Unlock()
	}
	var out bytes.Buffer
	code := g.world.Program(ctx, s, bytes.NewReader(raw), &out, stderr)
	var answer map[string]any
	if json.Unmarshal(out.Bytes(), &answer) != nil {
		_, _ = stdout.Write(out.Bytes())
		return code
	}
	if answer["state_action"] != nil {
		answer["guard"] = map[string]any{"undo": map[string]any{"args": []string{"undo"}}}
		answer["unknowns"] = !g.blind
	}
	if actions, ok := answer["actions"].([]any); ok && strings.HasPrefix(in.Name, "g") {
		for _, a := range actions {
			a.(map[string]any)["guarded"] = true
		}
	}
	_ = json.NewEncoder(stdout).Encode(answer)
	return code
}

// recording logs what is recorded as VALID.
type recording struct {
	apply.Journal
	g *guards
}

func (r recording) Valid(addr string, e state.Entry) error {
	r.g.say("valid %s", addr)
	return r.Journal.Valid(addr, e)
}

// guarding returns an engine with a host that guards.
func guarding(t *testing.T) (*engine, *guards) {
	e := newEngine(t.TempDir())
	g := &guards{world: e.world, verdict: runner.Confirmed}
	e.fake.Add("test/thing:1", g.program)
	e.pins = map[string]router.Pin{"h": {Machine: "mh"}}
	e.opts.Guard, e.opts.Parallelism = g, 1
	e.wrap = func(j apply.Journal) apply.Journal { return recording{j, g} }
	return e, g
}

const guardedHost = "host \"h\" {\n  address = \"h\"\n  undo_unless_reached = \"60s\"\n}\n"

// on declares a thing on the host, after others.
func on(name string, after ...string) string {
	lines := "  host = host.h\n"
	if len(after) > 0 {
		lines += "  depends_on = [resource." + strings.Join(after, ", resource.") + "]\n"
	}
	return strings.Replace(thing(name), "  config", lines+"  config", 1)
}

func wantLog(t *testing.T, g *guards, want ...string) {
	t.Helper()
	if !slices.Equal(g.log, want) {
		t.Errorf("the log is\n%s\nand should be\n%s", strings.Join(g.log, "\n"), strings.Join(want, "\n"))
	}
	g.log = nil
}

// A group is armed before its first action, and confirmed once after its last; what depends on it
// starts after that, and VALID is recorded then.
func TestGuard_ConfirmedOnceAfterTheLast(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	report := e.do(t, guardedHost+on("after", "g1")+on("g1")+on("g2", "g1")+on("gg"))
	if report.Status != apply.OK || report.Resources["g1"].Status != apply.OK || report.Resources["after"].Status != apply.OK {
		t.Errorf("%s", encode(report))
	}
	wantLog(t, g, "arm h 1m0s [gg]", "protect gg 0", "act gg", "settle [gg] true", "valid gg",
		"arm h 1m0s [g1 g2]", "protect g2 1", "protect g1 0", "act g1", "act g2", "settle [g1 g2] true", "valid g1", "valid g2",
		"act after", "valid after")
}

// What is undone has failed, is not recorded, and what depends on it does not start. The repeated
// action is another one.
func TestGuard_Reverted(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	g.verdict = runner.Undone
	p, err := e.plan(guardedHost + on("g1") + on("g2", "g1") + on("x", "g2"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		report, err := e.apply(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"g1", "g2"} {
			if r := report.Resources[name]; r.Status != apply.Error || r.Reason != "reverted: the host could not be reached again within 60s" || r.Failed != "make" {
				t.Errorf("%s: %s", name, encode(r))
			}
		}
		if r := report.Resources["x"]; r.Status != apply.NotStarted || report.Status != apply.Error {
			t.Errorf("%s", encode(report))
		}
		wantLog(t, g, "arm h 1m0s [g1 g2]", "protect g2 1", "protect g1 0", "act g1", "act g2", "settle [g1 g2] true")
		snapshot, _, err := state.Load(state.File(e.statePath()))
		if err != nil || !snapshot.Resources["g1"].Incomplete() {
			t.Errorf("%v %v", snapshot.Resources["g1"], err)
		}
		if p, err = e.plan(guardedHost + on("g1") + on("g2", "g1") + on("x", "g2")); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(g.keys)
	if len(slices.Compact(g.keys)) != 4 || strings.Count(g.keys[0], "/") != 5 {
		t.Errorf("the keys are %v", g.keys)
	}
}

// A group of which a part has failed is undone, and that is said beside the failure.
func TestGuard_UndoneAfterAFailure(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	e.world.Fail("g2", true)
	report := e.do(t, guardedHost+on("g1")+on("g2", "g1"))
	if r := report.Resources["g1"]; r.Status != apply.Error || r.Reason != "reverted: not all of its group was done" {
		t.Errorf("%s", encode(r))
	}
	if r := report.Resources["g2"]; r.ExitCode != 7 || !strings.HasPrefix(r.Reason, "exit 7") || !strings.HasSuffix(r.Reason, "; reverted") {
		t.Errorf("%s", encode(r))
	}
	if g.log[len(g.log)-1] != "settle [g1 g2] false" {
		t.Errorf("%q", g.log)
	}
}

// Where nobody answers, it is unknown whether the actions were undone. A host that cannot guard has nothing begun.
func TestGuard_UnknownOrRefused(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	g.lost = errors.New("nobody answers")
	report := e.do(t, guardedHost+on("g1"))
	if r := report.Resources["g1"]; r.Status != apply.Unknown || !strings.Contains(r.Reason, "nobody answers") {
		t.Errorf("%s", encode(r))
	}
	e, g = guarding(t)
	g.refuses = errors.New("systemd does not run on this machine")
	report = e.do(t, guardedHost+on("g1"))
	if r := report.Resources["g1"]; r.Status != apply.Error || !strings.Contains(r.Reason, "systemd") {
		t.Errorf("%s", encode(r))
	}
	wantLog(t, g, "arm h 1m0s [g1]")
}

// An interrupt within a group has it undone.
func TestGuard_Interrupted(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	ctx, cancel := context.WithCancel(t.Context())
	e.world.Watch(func(name, _ string) {
		if name == "g1" {
			cancel()
		}
	})
	p, err := e.plan(guardedHost + on("g1") + on("g2", "g1"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(ctx, p)
	if err != nil || report.Status != apply.Interrupted || report.Resources["g1"].Status != apply.Error {
		t.Errorf("%v %s", err, encode(report))
	}
	if g.log[len(g.log)-1] != "settle [g1 g2] false" {
		t.Errorf("%q", g.log)
	}
}

// Without the attribute nothing is guarded.
func TestGuard_OnlyWhereTheHostUndoes(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	report := e.do(t, "host \"h\" {\n  address = \"h\"\n}\n"+on("g1"))
	if report.Status != apply.OK {
		t.Errorf("%s", encode(report))
	}
	wantLog(t, g, "act g1", "valid g1")
}

// What turns out not to be guarded is done by the next apply; what does is of the group.
func TestGuard_KnownOnlyInTurn(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	g.blind = true
	manifest := guardedHost + on("g1") + on("g2", "g1") + on("x", "g2")
	report := e.do(t, manifest)
	if r := report.Resources["x"]; r.Status != apply.NotStarted || report.Status != apply.Incomplete || !strings.Contains(r.Reason, "plan and apply again") {
		t.Errorf("%s", encode(report))
	}
	wantLog(t, g, "arm h 1m0s [g1 g2 x]", "protect g1 0", "act g1", "protect g2 1", "act g2", "settle [g1 g2 x] true", "valid g1", "valid g2")
	if report := e.do(t, manifest); report.Status != apply.OK {
		t.Errorf("%s", encode(report))
	}
	wantLog(t, g, "act x", "valid x")
}

// Two groups of one host are never armed at one time, on other hosts they are.
func TestGuard_GroupsOfAHostFollowEachOther(t *testing.T) {
	t.Parallel()
	e, g := guarding(t)
	e.opts.Parallelism = 8
	e.do(t, guardedHost+on("g1")+on("g2")+on("g3")+on("g4"))
	armed := 0
	for _, line := range g.log {
		switch {
		case strings.HasPrefix(line, "arm"):
			armed++
		case strings.HasPrefix(line, "settle"):
			armed--
		}
		if armed > 1 {
			t.Fatalf("%q", g.log)
		}
	}
}
