package protocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"deployster/protocol"
)

type diskConfig struct {
	Name   string   `json:"name" pattern:"^[a-z]+$" doc:"what it is called" deployster:"identity"`
	Size   int      `json:"size" minimum:"1" default:"10"`
	Tags   []string `json:"tags,omitempty" enum:"fast,safe"`
	Locked bool     `json:"locked,omitempty"`
	Token  string   `json:"token,omitempty" writeOnly:"true"`
	Ratio  float64  `json:"ratio,omitempty"`
}

type diskState struct {
	ID     string   `json:"id"`
	Size   int      `json:"size"`
	Tags   []string `json:"tags,omitempty"`
	Locked bool     `json:"locked"`
	Ratio  float64  `json:"ratio,omitempty"`
}

// disks is a type in memory.
type disks struct {
	mu    sync.Mutex
	there map[string]diskState
	read  func(ctx context.Context, c *protocol.Call[diskConfig, diskState]) error
	seen  protocol.Call[diskConfig, diskState] // the last one
}

func newDisks() *disks { return &disks{there: map[string]diskState{}} }

func (d *disks) Read(ctx context.Context, c *protocol.Call[diskConfig, diskState]) (*diskState, error) {
	if d.read != nil {
		if err := d.read(ctx, c); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = *c
	if s, ok := d.there[c.Config.Name]; ok {
		return &s, nil
	}
	return nil, nil
}

func (d *disks) Write(_ context.Context, c *protocol.Call[diskConfig, diskState]) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = *c
	c.Logf("writing %s", c.Config.Name)
	d.there[c.Config.Name] = diskState{ID: "d-1", Size: c.Config.Size, Tags: c.Config.Tags, Locked: c.Config.Locked, Ratio: c.Config.Ratio}
	return nil
}

func (d *disks) Delete(_ context.Context, c *protocol.Call[diskConfig, diskState]) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.there, c.Config.Name)
	return nil
}

// ask runs a type once.
func ask[C, S any](t *testing.T, r protocol.Resource[C, S], about protocol.About, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	code = protocol.Run(t.Context(), r, about, protocol.Process{Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &log})
	return code, out.String(), log.String()
}

const initInput = `{"name":"a","type":"acme/disk:1","version":"0.1.0","verbose":false,"workspace":"/w","protocol":{"min":1,"max":2}}`

func input(config string, more ...string) string {
	return `{"name":"a","type":"acme/disk:1","protocol":{"min":1,"max":2},"config":` + config + strings.Join(more, "") + `}`
}

func TestServe_DescribesTheType(t *testing.T) {
	t.Parallel()
	about := protocol.About{Label: "Disk", Kind: "disk", Worker: true, Dependencies: true, Reuse: true, ReuseActions: true,
		Plugs: map[string]protocol.PlugRequest{"dir": {ContainerPath: "/dir", Optional: true}}}
	code, stdout, stderr := ask(t, newDisks(), about, initInput)
	want := `{"protocol":2,"label":"Disk",` +
		`"config_schema":{"additionalProperties":false,"properties":{"locked":{"type":"boolean"},"name":{"description":"what it is called","pattern":"^[a-z]+$","type":"string"},` +
		`"ratio":{"type":"number"},"size":{"default":10,"minimum":1,"type":"integer"},"tags":{"items":{"enum":["fast","safe"],"type":"string"},"type":"array"},"token":{"type":"string","writeOnly":true}},"required":["name"],"type":"object"},` +
		`"state_schema":{"additionalProperties":false,"properties":{"id":{"type":"string"},"locked":{"type":"boolean"},"ratio":{"type":"number"},` +
		`"secret_fingerprints":{"additionalProperties":{"type":"string"},"description":"salted fingerprints of the secrets in the config, by their JSON pointers","type":"object","writeOnly":true},` +
		`"size":{"type":"integer"},"tags":{"items":{"type":"string"},"type":["array","null"]}},"required":["id","size","locked"],"type":"object"},"identity":["/name"],"kind":"disk",` +
		`"plugs":{"dir":{"container_path":"/dir","optional":true,"writable":false}},"state_action":{"args":["state"]},"absent":true,"dependencies":true,"worker":{"args":["worker"]},"reuse":true,"reuse_actions":true}` + "\n"
	if code != 0 || stdout != want || stderr != "" {
		t.Errorf("%d\n%s\n%s\nwant\n%s", code, stdout, stderr, want)
	}
	for stdin, reason := range map[string]string{
		strings.Replace(initInput, `"max":2`, `"max":1`, 1):                 "uses protocol 2",
		strings.Replace(initInput, `"min":1,"max":2`, `"min":3,"max":4`, 1): "supports 3 to 4",
		"":            "nothing on stdin",
		"{} {}":       "something follows",
		"[]":          "not what deployster sends",
		`{"name":17}`: "not what deployster sends",
	} {
		if code, stdout, stderr := ask(t, newDisks(), about, stdin); code != 1 || stdout != "" || !strings.Contains(stderr, reason) {
			t.Errorf("%s: %d %q %q", stdin, code, stdout, stderr)
		}
	}
}

func TestServe_CreatesUpdatesAndDestroys(t *testing.T) {
	t.Parallel()
	d, about := newDisks(), protocol.About{}
	say := func(want, stdin string, args ...string) {
		t.Helper()
		if code, stdout, stderr := ask(t, d, about, stdin, args...); code != 0 || strings.TrimSpace(stdout) != want {
			t.Errorf("%v %s: %d\n%s%s\nwant\n%s", args, stdin, code, stdout, stderr, want)
		}
	}
	absent := `,"intent":"absent"`
	say(`{"status":"STALE","actions":[{"name":"create","args":["create"]}],"forecast":{"size":10}}`, input(`{"name":"x"}`), "state")
	say(`{"status":"MISSING"}`, input(`{"name":"x"}`, absent), "state")
	say("", input(`{"name":"x"}`, `,"action":"create","staleState":{},"idempotency_key":"k7"`), "create")
	if d.seen.Have != nil || d.seen.IdempotencyKey != "k7" || d.seen.Action != "create" {
		t.Errorf("create saw %+v", d.seen)
	}
	say(`{"status":"VALID","state":{"id":"d-1","size":10,"locked":false}}`, input(`{"name":"x"}`, `,"new_key":[{}]`), "state")
	say(`{"status":"VALID","state":{"id":"d-1","size":10,"locked":false}}`, input(`{"name":"x","tags":[],"ratio":0.0}`), "state")
	say(`{"status":"STALE","staleState":{"id":"d-1","size":10,"locked":false},"actions":[{"name":"update","args":["update"]}],`+
		`"reasons":[{"path":"/size","have":10,"want":20},{"path":"/tags","want":["fast"]}],"forecast":{"size":20,"tags":["fast"]}}`,
		input(`{"name":"x","size":20,"tags":["fast"],"locked":false}`), "state")
	say("", input(`{"name":"x","size":20,"tags":["fast"],"locked":true,"ratio":0.5}`, `,"action":"update","staleState":{"id":"d-1","size":10,"locked":false}`), "update")
	if d.seen.Have == nil || d.seen.Have.Size != 10 {
		t.Errorf("update saw %+v", d.seen.Have)
	}
	// What the user wrote counts also where encoding leaves it out.
	say(`{"status":"STALE","staleState":{"id":"d-1","size":20,"tags":["fast"],"locked":true,"ratio":0.5},"actions":[{"name":"update","args":["update"]}],`+
		`"reasons":[{"path":"/locked","have":true,"want":false}],"forecast":{"ratio":0.5,"size":20,"tags":["fast"]},"unknown":["/locked"]}`,
		input(`{"name":"x","size":20,"tags":["fast"],"locked":false,"ratio":5e-1}`), "state")
	say(`{"status":"STALE","staleState":{"id":"d-1","size":20,"tags":["fast"],"locked":true,"ratio":0.5},"actions":[{"name":"delete","args":["delete"]}]}`,
		input(`{"name":"x"}`, absent, `,"last_state":{"id":"d-1","size":9}`), "state")
	if d.seen.LastState == nil || d.seen.LastState.Size != 9 {
		t.Errorf("it remembers %+v", d.seen.LastState)
	}
	say("", input(`{"name":"x"}`, absent), "delete")
	say(`{"status":"MISSING"}`, input(`{"name":"x"}`, absent, `,"last_state":{"of":"another time"}`), "state")
}

func TestServe_ReportsErrorsAndPanics(t *testing.T) {
	t.Parallel()
	failing := func(err error) *disks {
		d := newDisks()
		d.read = func(context.Context, *protocol.Call[diskConfig, diskState]) error { return err }
		return d
	}
	panicking := newDisks()
	panicking.read = func(context.Context, *protocol.Call[diskConfig, diskState]) error { panic("oh dear") }
	ok := input(`{"name":"x"}`)
	for _, c := range []struct {
		d              *disks
		stdin, step    string
		code           int
		stdout, stderr string
	}{
		{failing(protocol.Errorf(protocol.DeniedError, "/name", "no key for %s", "x")), ok, "state", 0, `{"error":{"class":"denied","message":"no key for x","path":"/name"}}`, ""},
		{failing(fmt.Errorf("asking: %w", protocol.Errorf(protocol.TransientError, "", "busy"))), ok, "state", 0, `{"error":{"class":"transient","message":"busy"}}`, ""},
		{failing(errors.New("no route")), ok, "state", 1, "", "no route"},
		{panicking, ok, "state", 2, "", "oh dear"},
		{newDisks(), input(`{"name":7}`), "state", 0, `"class":"config"`, ""},
		{newDisks(), input(`{"name":"x","sise":7}`), "state", 0, `unknown field`, ""},
		{newDisks(), ok, "explode", 1, "", `no action "explode"`},
		{newDisks(), ok, "worker", 1, "", `no action "worker"`}, // it did not say that it can
		{newDisks(), "{", "create", 1, "", "not what deployster sends"},
	} {
		code, stdout, stderr := ask(t, c.d, protocol.About{}, c.stdin, c.step)
		if code != c.code || !strings.Contains(stdout, c.stdout) || c.stdout == "" && stdout != "" || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s %s: %d %q %q, want %+v", c.step, c.stdin, code, stdout, stderr, c)
		}
	}
	if code, _, stderr := ask(t, newDisks(), protocol.About{}, ok, "state", "more"); code != 1 || !strings.Contains(stderr, "no further arguments") {
		t.Errorf("two arguments: %d %s", code, stderr)
	}
}

func TestServe_EndsOnRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	d := newDisks()
	d.read = func(ctx context.Context, _ *protocol.Call[diskConfig, diskState]) error {
		cancel()
		<-ctx.Done()
		return nil // it does not even say that it was ended
	}
	var out, log bytes.Buffer
	code := protocol.Run(ctx, d, protocol.About{}, protocol.Process{Args: []string{"state"}, Stdin: strings.NewReader(input(`{"name":"x"}`)), Stdout: &out, Stderr: &log})
	if code != 143 || out.Len() > 0 || !strings.Contains(log.String(), "on request") {
		t.Errorf("%d %q %q", code, &out, &log)
	}
}

// planned has its own mind about what is to be done, and cannot remove anything.
type planned struct{ plan *protocol.Plan }

func (planned) Read(context.Context, *protocol.Call[map[string]any, map[string]any]) (*map[string]any, error) {
	return &map[string]any{"n": json.Number("12345678901234567890.50")}, nil
}
func (planned) Write(context.Context, *protocol.Call[map[string]any, map[string]any]) error {
	return errors.New("not asked for")
}
func (p planned) Plan(context.Context, *protocol.Call[map[string]any, map[string]any], *map[string]any) (*protocol.Plan, error) {
	return p.plan, nil
}
func (planned) Act(_ context.Context, c *protocol.Call[map[string]any, map[string]any]) error {
	_, err := fmt.Fprintf(c.Out, "%s of %v", c.Action, c.Config["n"])
	return err
}

func TestServe_PassesThePlanOfAType(t *testing.T) {
	t.Parallel()
	in := input(`{"n":12345678901234567890.50}`)
	stop := protocol.Action{Name: "stop", Description: "Stop it"}
	p := planned{&protocol.Plan{Actions: []protocol.Action{{Name: "grow"}, {Name: "check", Command: protocol.Command{Image: "acme/check"}}}, ShutdownFirst: &stop,
		Forecast: map[string]int{"n": 3}}}
	_, stdout, _ := ask(t, p, protocol.About{}, in, "state")
	if want := `{"status":"STALE","staleState":{"n":12345678901234567890.50},"actions":[{"name":"grow","args":["grow"]},{"name":"check","image":"acme/check"}],` +
		`"shutdown_first":{"name":"stop","description":"Stop it","args":["stop"]},"forecast":{"n":3}}` + "\n"; stdout != want {
		t.Errorf("%s\nwant\n%s", stdout, want)
	}
	if _, stdout, _ = ask(t, planned{}, protocol.About{}, in, "state"); !strings.HasPrefix(stdout, `{"status":"VALID","state":{"n":12345678901234567890.50}}`) {
		t.Errorf("every digit is kept: %s", stdout)
	}
	if _, stdout, _ = ask(t, planned{&protocol.Plan{}}, protocol.About{}, in, "state"); !strings.Contains(stdout, `"bug"`) {
		t.Errorf("a plan without actions: %s", stdout)
	}
	if code, stdout, _ := ask(t, p, protocol.About{}, in, "grow"); code != 0 || stdout != "grow of 12345678901234567890.50" {
		t.Errorf("%d %s", code, stdout)
	}
	if _, stdout, _ = ask(t, p, protocol.About{}, input(`{}`, `,"intent":"absent"`), "state"); !strings.Contains(stdout, "cannot remove") {
		t.Errorf("it cannot remove anything: %s", stdout)
	}
	_, stdout, _ = ask(t, p, protocol.About{ConfigSchema: []byte(`{"type":"object"}`), StateSchema: []byte(`true`)}, initInput)
	if want := `{"protocol":2,"config_schema":{"type":"object"},"state_schema":true,"state_action":{"args":["state"]}}` + "\n"; stdout != want {
		t.Errorf("%s\nwant\n%s", stdout, want)
	}
}

// picky compares by itself.
type picky struct{ *disks }

func (picky) Compare(c *protocol.Call[diskConfig, diskState], have *diskState) []protocol.Reason {
	if have.Size < c.Config.Size {
		return []protocol.Reason{{Message: "too small"}}
	}
	return nil
}

func TestServe_UsesTheComparerOfAType(t *testing.T) {
	t.Parallel()
	p := picky{newDisks()}
	p.there["x"] = diskState{Size: 5}
	for size, want := range map[string]string{"4": `{"status":"VALID"`, "6": `"reasons":[{"message":"too small"}]`} {
		if _, stdout, _ := ask(t, p, protocol.About{}, input(`{"name":"x","size":`+size+`}`), "state"); !strings.Contains(stdout, want) || strings.Contains(stdout, "forecast") {
			t.Errorf("%s: %s", size, stdout)
		}
	}
}
