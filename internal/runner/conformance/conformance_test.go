package conformance_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/runner"
	"deployster/internal/runner/conformance"
	"deployster/internal/runner/runnertest"
	"deployster/protocol"
)

const config = `{"name":"a","text":"one","password":"hunter22"}`
const then = `{"name":"a","text":"two","password":"hunter22"}`

// test runs the whole test against a type with a fault.
func test(t *testing.T, f *faulty, change func(*conformance.Options)) (conformance.Report, error) {
	t.Helper()
	if f.texts == nil {
		f.texts = map[string]string{}
	}
	fake := runnertest.NewFake()
	fake.Add("acme/text", f.run)
	o := conformance.Options{Runner: quick{fake}, Image: "acme/text", Config: json.RawMessage(config), Then: json.RawMessage(then)}
	if change != nil {
		change(&o)
	}
	return conformance.Run(t.Context(), o)
}

// quick gives programs that do not end less time than people would.
type quick struct{ *runnertest.Fake }

func (q quick) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Grace = time.Second // also on a loaded machine
	return q.Fake.Run(ctx, s)
}

func verdicts(r conformance.Report, v conformance.Verdict) []string {
	var names []string
	for _, c := range r.Checks {
		if c.Verdict == v {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestCarefulTypePasses(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	r, err := test(t, f, nil)
	if err != nil || r.Status != conformance.Pass || r.LeftBehind || len(f.texts) > 0 {
		t.Errorf("%v, %+v, left: %v", err, r, f.texts)
	}
	if skipped := verdicts(r, conformance.Skip); !slices.Equal(skipped, []string{"reuse"}) {
		t.Errorf("skipped: %v", skipped)
	}
	want := strings.Fields("init init-again init-unknown-keys init-sigterm config config-strict state state-again state-unknown-keys state-sigterm " +
		"actions valid state-schema forecast apply-twice last-state renamed update worker absent absent-again gone create-again worker-actions destroy-again secrets")
	if got := verdicts(r, conformance.Pass); !slices.Equal(got, want) {
		t.Errorf("passed: %v\nwant    %v", got, want)
	}
	if r.Passed != len(want) || r.Failed != 0 || r.Skipped != 1 || r.Label != "Text" || r.Protocol != 2 || !strings.HasPrefix(r.Digest, "sha256:") {
		t.Errorf("%+v", r)
	}
}

// Each check is seen to fail: with this one fault, this check and these others.
func TestEachCheckCanFail(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for fault, want := range map[string]string{
		"init on stderr":              "init",
		"init refuses":                "init",
		"init depends on the name":    "init-again",
		"init chokes on grease":       "init-unknown-keys",
		"deaf init":                   "init-sigterm",
		"init is greedy":              "config",
		"state fails":                 "state",
		"state on stderr":             "state",
		"state counts":                "state-again state-unknown-keys",
		"state is confused by grease": "state-unknown-keys create-again",
		"state chokes on grease":      "state-unknown-keys create-again",
		"deaf state":                  "state-sigterm",
		"write fails":                 "actions",
		"write does nothing":          "valid",
		"wrong forecast":              "forecast",
		"state without text":          "state-schema",
		"valid counts":                "apply-twice last-state worker",
		"believes the last state":     "last-state",
		"never updates":               "update",
		"worker chatters":             "worker",
		"worker differs":              "worker",
		"worker forgets an exit":      "worker",
		"worker ends twice":           "worker",
		"worker says another exit":    "worker",
		"worker crashes":              "worker worker-actions",
		"worker does not act":         "worker-actions",
		"worker fails to act":         "worker-actions",
		"reuse counts":                "reuse",
		"remove does nothing":         "absent",
		"denies it":                   "absent",
		"ghost":                       "absent-again",
		"remembers after the end":     "gone",
		"write chokes on grease":      "create-again",
		"write is confused by grease": "create-again",
		"prints secrets":              "secrets",
	} {
		f := &faulty{fault: fault}
		r, err := test(t, f, nil)
		failed := verdicts(r, conformance.Fail)
		if err != nil || r.Status != conformance.Fail || !contains(failed, strings.Fields(want)) {
			t.Errorf("%s: failed %v, want %s; %v", fault, failed, want, err)
		}
		for _, c := range r.Checks {
			if c.Verdict == conformance.Fail {
				seen[c.Name] = true
				if c.Fix == "" || c.Reason == "" || c.Title == "" {
					t.Errorf("%s: %s does not say what is wrong and how to mend it: %+v", fault, c.Name, c)
				}
			}
			if c.Verdict == conformance.Skip && c.Reason == "" {
				t.Errorf("%s: %s does not say why it was skipped", fault, c.Name)
			}
		}
		if len(f.texts) > 0 && !r.LeftBehind || len(f.texts) > 0 && find(t, r, "absent").Verdict == conformance.Pass {
			t.Errorf("%s: there is left %v, and the report says %v", fault, f.texts, r.LeftBehind)
		}
	}
	r, _ := test(t, &faulty{}, nil)
	for _, c := range r.Checks {
		if !seen[c.Name] && c.Name != "config-strict" && c.Name != "destroy-again" && c.Name != "renamed" { // these: below
			t.Errorf("no fault makes %s fail", c.Name)
		}
	}
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) }) && len(some) > 0
}

// find gives one check of a report.
func find(t *testing.T, r conformance.Report, name string) conformance.Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c conformance.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %s", name)
	}
	return r.Checks[i]
}

// An open schema is allowed, and is told with what would be better.
func TestOpenSchemas(t *testing.T) {
	t.Parallel()
	for fault, reason := range map[string]string{"open schema": "a property that it does not know", "no schema": "no config_schema"} {
		r, err := test(t, &faulty{fault: fault}, nil)
		c := find(t, r, "config-strict")
		if err != nil || r.Failed > 0 || c.Verdict != conformance.Skip || !strings.Contains(c.Reason, reason) || !strings.Contains(c.Fix, "additionalProperties") {
			t.Errorf("%s: %v %+v", fault, err, c)
		}
	}
	r, err := test(t, &faulty{fault: "goes by its name"}, nil)
	if c := find(t, r, "renamed"); err != nil || r.Failed > 0 || c.Verdict != conformance.Skip || !strings.Contains(c.Fix, "moved block") {
		t.Errorf("%v %+v", err, c)
	}
	r, _ = test(t, &faulty{fault: "init is greedy"}, nil)
	if c := find(t, r, "config"); !strings.Contains(c.Reason, `"zone" is missing`) {
		t.Errorf("%+v", c)
	}
}

// What somebody else has made is not touched, unless it may be.
func TestWhatIsThereIsLeft(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one", "theirs"} {
		f := &faulty{texts: map[string]string{"a": text}}
		_, err := test(t, f, nil)
		if err == nil || !strings.Contains(err.Error(), "-replace") || !maps.Equal(f.texts, map[string]string{"a": text}) || f.writes > 0 {
			t.Errorf("%v, %v", err, f.texts)
		}
		r, err := test(t, f, func(o *conformance.Options) { o.Replace = true })
		if err != nil || r.Status != conformance.Pass || len(f.texts) > 0 || find(t, r, "remove-existing").Verdict != conformance.Pass {
			t.Errorf("replaced: %v, %v, %+v", err, f.texts, r)
		}
	}
	f := &faulty{fault: "remove does nothing", texts: map[string]string{"a": "theirs"}}
	r, err := test(t, f, func(o *conformance.Options) { o.Replace = true })
	if err != nil || find(t, r, "remove-existing").Verdict != conformance.Fail || find(t, r, "actions").Verdict != conformance.Skip {
		t.Errorf("%v %+v", err, r)
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	r, err := test(t, f, func(o *conformance.Options) { o.Keep = true })
	if err != nil || r.Status != conformance.Pass || !r.LeftBehind || f.texts["a"] != "two" {
		t.Errorf("%v %v %+v", err, f.texts, r)
	}
	if c := find(t, r, "destroy-again"); c.Verdict != conformance.Skip {
		t.Errorf("%+v", c)
	}
}

// destroy-again fails where removing works once only.
func TestDestroyAgainCanFail(t *testing.T) {
	t.Parallel()
	f, removed := &faulty{texts: map[string]string{}}, 0
	fake := runnertest.NewFake()
	fake.Add("acme/text", func(ctx context.Context, s runner.Spec, in io.Reader, out, log io.Writer) int {
		if len(s.Args) > 0 && s.Args[0] == "remove" {
			if removed++; removed > 1 {
				return 4
			}
		}
		return f.run(ctx, s, in, out, log)
	})
	r, err := conformance.Run(t.Context(), conformance.Options{Runner: fake, Image: "acme/text", Config: json.RawMessage(config)})
	if err != nil || !slices.Equal(verdicts(r, conformance.Fail), []string{"destroy-again"}) || !r.LeftBehind {
		t.Errorf("%v %+v", err, r)
	}
	if c := find(t, r, "update"); c.Verdict != conformance.Skip {
		t.Errorf("%+v", c)
	}
}

// What keeps the test from being made is an error, and nothing was changed.
func TestWhatKeepsTheTestFromBeingMade(t *testing.T) {
	t.Parallel()
	if _, err := test(t, &faulty{}, func(o *conformance.Options) { o.Image = "acme/other" }); err == nil {
		t.Error("an image that is not here")
	}
	_, err := test(t, &faulty{}, func(o *conformance.Options) { o.Plugs = map[string]conformance.Plug{"x": {Path: "/"}} })
	if err == nil || !strings.Contains(err.Error(), "It asks for none") {
		t.Errorf("a plug that nobody asks for: %v", err)
	}
	fake := runnertest.NewFake()
	fake.Add("acme/plugs", func(_ context.Context, _ runner.Spec, _ io.Reader, out, _ io.Writer) int {
		_, _ = out.Write([]byte(`{"plugs":{"a":{"container_path":"/a"},"b":{"container_path":"/b","optional":true}},"state_action":{"args":["state"]}}`))
		return 0
	})
	o := conformance.Options{Runner: fake, Image: "acme/plugs", Config: json.RawMessage(`{}`)}
	if _, err := conformance.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "-plug a=PATH") || strings.Contains(err.Error(), "-plug b") {
		t.Errorf("a plug that is missing: %v", err)
	}
	o.Plugs = map[string]conformance.Plug{"a": {Path: t.TempDir(), ReadOnly: true}}
	if _, err := conformance.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), ":ro") {
		t.Errorf("a plug that cannot be written to: %v", err)
	}
	fake.Add("acme/needs", func(_ context.Context, _ runner.Spec, _ io.Reader, out, _ io.Writer) int {
		_, _ = out.Write([]byte(`{"label":"One","required_resources":{"net":"acme/net"},"state_action":{"args":["state"]}}`))
		return 0
	})
	if _, err := conformance.Run(t.Context(), conformance.Options{Runner: fake, Image: "acme/needs", Config: json.RawMessage(`{}`)}); err == nil || !strings.Contains(err.Error(), "dependencies (net)") {
		t.Errorf("dependencies that are missing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := &faulty{texts: map[string]string{}}
	fake.Add("acme/text", func(ctx context.Context, s runner.Spec, in io.Reader, out, log io.Writer) int {
		if len(s.Args) > 0 && s.Args[0] == "write" {
			cancel()
			<-ctx.Done()
			return 143
		}
		return f.run(ctx, s, in, out, log)
	})
	r, err := conformance.Run(ctx, conformance.Options{Runner: fake, Image: "acme/text", Config: json.RawMessage(config)})
	if err == nil || !r.LeftBehind || r.Failed > 0 {
		t.Errorf("an interrupt: %v %+v", err, r)
	}
}

// A type of protocol 1, and one that can be asked for less, is tested as far
// as that goes.
func TestProtocolOne(t *testing.T) {
	t.Parallel()
	there := false
	fake := runnertest.NewFake()
	fake.Add("acme/one", func(_ context.Context, s runner.Spec, _ io.Reader, out, _ io.Writer) int {
		answer := `{"label":"One","state_action":{"args":["state"]}}`
		switch {
		case len(s.Args) > 0 && s.Args[0] == "make":
			there, answer = true, "made"
		case len(s.Args) > 0 && there:
			answer = `{"status":"VALID","properties":{}}`
		case len(s.Args) > 0:
			answer = `{"status":"MISSING","actions":[{"name":"make","args":["make"]}]}`
		}
		_, _ = out.Write([]byte(answer))
		return 0
	})
	o := conformance.Options{Runner: fake, Image: "acme/one", Config: json.RawMessage(`{}`)}
	r, err := conformance.Run(t.Context(), o)
	if err != nil || r.Failed > 0 || !r.LeftBehind || r.Protocol != 1 || find(t, r, "valid").Verdict != conformance.Pass {
		t.Errorf("%v %+v", err, r)
	}
	if c := find(t, r, "absent"); c.Verdict != conformance.Skip || !strings.Contains(c.Reason, "absent") {
		t.Errorf("%+v", c)
	}
	// Once more: it is there, and nothing would be done to it.
	if r, err = conformance.Run(t.Context(), o); err != nil || r.Failed > 0 || r.LeftBehind || find(t, r, "actions").Verdict != conformance.Skip {
		t.Errorf("%v %+v", err, r)
	}
}

// The report shows what was said where a check failed, without secrets, and
// those who watch are told in time.
func TestReport(t *testing.T) {
	t.Parallel()
	f := &faulty{fault: "prints secrets"}
	var told []string
	about := 0
	r, err := test(t, f, func(o *conformance.Options) {
		o.About = func(protocol.Type) { about = len(told) }
		o.Done = func(c conformance.Check) { told = append(told, c.Name) }
		o.Hide = func(s string) string { return strings.ReplaceAll(s, "hunter22", "(hidden)") }
	})
	if err != nil || len(told) != len(r.Checks) || about != 1 {
		t.Errorf("%v, told %v, about after %d", err, told, about)
	}
	if r, err = test(t, &faulty{fault: "write fails"}, func(o *conformance.Options) {
		o.Hide = func(s string) string { return strings.ReplaceAll(s, "hunter22", "(hidden)") }
	}); err != nil {
		t.Fatal(err)
	}
	c := find(t, r, "actions")
	last := c.Exchanges[len(c.Exchanges)-1]
	if last.Step != "test/write" || last.ExitCode != 7 || !strings.Contains(last.Stdin, `"password":"(hidden)"`) || !slices.Equal(last.Args, []string{"write"}) {
		t.Errorf("%+v", last)
	}
	whole, err := json.Marshal(r)
	if err != nil || strings.Contains(string(whole), "hunter22") {
		t.Errorf("%v %s", err, whole)
	}
}
