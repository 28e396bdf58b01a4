package conformance_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

const config = `{"name":"a","text":"one","password":"hunter22"}`
const then = `{"name":"a","text":"two","password":"hunter22"}`

// test runs the whole test against a type with a fault.
func test(t *testing.T, f *faulty, change func(*conformance.Options)) (report.Report, error) {
	t.Helper()
	if f.texts == nil {
		f.texts = map[string]string{}
	}
	fake := runnertest.NewFake()
	fake.Add("acme/text", f.run)
	o := conformance.Options{Runner: shortGrace{fake}, Launcher: fake, Image: "acme/text", Config: json.RawMessage(config), Then: json.RawMessage(then)}
	if change != nil {
		change(&o)
	}
	return conformance.Run(t.Context(), o)
}

// shortGrace is a runner with a short grace period.
type shortGrace struct{ *runnertest.Fake }

func (r shortGrace) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Grace = time.Second // also on a loaded machine
	return r.Fake.Run(ctx, s)
}

func verdicts(r report.Report, v report.Verdict) []string {
	var names []string
	for _, c := range r.Checks {
		if c.Verdict == v {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestRun_CarefulTypePasses(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	r, err := test(t, f, nil)
	if err != nil || r.Status != report.Pass || r.LeftBehind || len(f.texts) > 0 {
		t.Errorf("%v, %+v, left: %v", err, r, f.texts)
	}
	if skipped := verdicts(r, report.Skip); !slices.Equal(skipped, strings.Fields("refresh watch-starts watch-quiet watch-ends watch-worker reuse watch-tells reuse-actions")) {
		t.Errorf("skipped: %v", skipped)
	}
	want := strings.Fields("init init-again init-unknown-keys init-sigterm config config-strict identity state state-again state-unknown-keys state-sigterm " +
		"actions valid state-schema forecast apply-twice last-state renamed identity-other identity-same update worker absent-unreached absent absent-again gone create-again worker-actions destroy-again secrets")
	if got := verdicts(r, report.Pass); !slices.Equal(got, want) {
		t.Errorf("passed: %v\nwant    %v", got, want)
	}
	if r.Passed != len(want) || r.Failed != 0 || r.Skipped != 8 || r.Label != "Text" || r.Protocol != 2 || !strings.HasPrefix(r.Digest, "sha256:") {
		t.Errorf("%+v", r)
	}
}

// A type that tells of changes does so alone and as a worker.
func TestChecks_Watch(t *testing.T) {
	t.Parallel()
	r, err := test(t, &faulty{fault: "watches"}, nil)
	if err != nil || r.Status != report.Pass {
		t.Errorf("%v, %+v", err, r)
	}
	for _, name := range []string{"watch-starts", "watch-quiet", "watch-ends", "watch-worker", "watch-tells"} {
		if c := find(t, r, name); c.Verdict != report.Pass {
			t.Errorf("%+v", c)
		}
	}
}

// A type whose actions may share a container is tested in one. What a type does not offer, and could, is proposed.
func TestChecks_ReuseActions(t *testing.T) {
	t.Parallel()
	f := &faulty{fault: "reuse actions"}
	r, err := test(t, f, nil)
	if c := find(t, r, "reuse-actions"); err != nil || r.Status != report.Pass || c.Verdict != report.Pass || f.shared != 4 {
		t.Errorf("%v, %+v, %d actions have shared a container", err, c, f.shared)
	}
	r, err = test(t, &faulty{fault: "alone"}, nil)
	for name, want := range map[string]string{"reuse": `with "reuse": true`, "reuse-actions": `"reuse_actions": true`} {
		if c := find(t, r, name); err != nil || c.Verdict != report.Skip || !strings.Contains(c.Reason, want) {
			t.Errorf("%v, %+v", err, c)
		}
	}
}

// A type that can be told reloads, and is as it was.
func TestChecks_Refresh(t *testing.T) {
	t.Parallel()
	r, err := test(t, &faulty{fault: "is told"}, nil)
	if err != nil || r.Status != report.Pass || find(t, r, "refresh").Verdict != report.Pass {
		t.Errorf("%v, %+v", err, r)
	}
}

// inputs has a test run operations without an input, and send with one.
func inputs(send string, others ...string) func(*conformance.Options) {
	return func(o *conformance.Options) {
		o.Inputs = map[string]json.RawMessage{}
		if send != "" {
			o.Inputs["send"] = json.RawMessage(send)
		}
		for _, name := range others {
			o.Inputs[name] = json.RawMessage("{}")
		}
	}
}

// The operations that are named run, and what they change is put right by the actions of the type.
func TestRun_Operations(t *testing.T) {
	t.Parallel()
	r, err := test(t, &faulty{fault: "operates"}, nil)
	got := find(t, r, "operations")
	if err != nil || got.Verdict != report.Skip || got.Reason != "not named: copy, send, shout" || got.Fix == "" {
		t.Errorf("%v, %+v", err, got)
	}
	r, err = test(t, &faulty{fault: "operates"}, inputs(`{"to":"disk"}`, "shout"))
	if got = find(t, r, "operations"); err != nil || r.Failed > 0 || got.Reason != "ran send, shout; not named: copy" {
		t.Errorf("with an input: %v, %d failed, %+v", err, r.Failed, got)
	}
	r, _ = test(t, &faulty{fault: "operates"}, inputs(`{"where":"disk"}`))
	if got = find(t, r, "operations"); got.Verdict != report.Fail || !strings.Contains(got.Reason, `lacks "to"`) {
		t.Errorf("with a wrong input: %+v", got)
	}
	f := &faulty{fault: "operates"}
	_, err = test(t, f, inputs("", "sent"))
	if err == nil || !strings.Contains(err.Error(), `Did you mean "send"?`) || f.writes > 0 {
		t.Errorf("with the input of an operation that does not exist: %v, written %d times", err, f.writes)
	}
}

// Each check can fail: with one fault, these checks do.
func TestChecks_Fail(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	seen := map[string]bool{}
	for fault, want := range map[string]string{
		"init on stderr":              "init",
		"init refuses":                "init",
		"init depends on the name":    "init-again",
		"init chokes on grease":       "init-unknown-keys",
		"init ignores SIGTERM":        "init-sigterm",
		"init is greedy":              "config",
		"state fails":                 "state",
		"state on stderr":             "state",
		"state counts":                "state-again state-unknown-keys",
		"state is confused by grease": "state-unknown-keys create-again",
		"state chokes on grease":      "state-unknown-keys create-again",
		"state ignores SIGTERM":       "state-sigterm",
		"write fails":                 "actions",
		"write does nothing":          "valid",
		"wrong forecast":              "forecast",
		"state without text":          "state-schema",
		"valid counts":                "apply-twice last-state worker",
		"believes the last state":     "last-state",
		"believes its actions":        "apply-twice",
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
		"actions leave a lock":        "reuse-actions",
		"remove does nothing":         "absent",
		"is lost when told":           "refresh",
		"copies into the text":        "operations",
		"cannot copy":                 "operations",
		"copy chokes on grease":       "operations",
		"loses it":                    "operations",
		"watch is never ready":        "watch-starts",
		"watch is no JSON":            "watch-starts",
		"watch tells of looks":        "watch-quiet",
		"watch tells nothing":         "watch-tells",
		"watch does not end":          "watch-ends",
		"watch worker takes few":      "watch-worker",
		"watch worker never cancels":  "watch-worker",
		"denies it":                   "absent-unreached absent",
		"denies what it cannot reach": "absent-unreached",
		"ghost":                       "absent-again",
		"remembers after the end":     "gone",
		"write chokes on grease":      "create-again",
		"write is confused by grease": "create-again",
		"prints secrets":              "secrets",

		"identity of nothing":             "identity",
		"identity of what may be missing": "identity",
		"identity of a secret":            "identity",
		"finds any":                       "identity-other",
		"compares nothing":                "update",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel() // most wait, for what must not come or for a program that does not end
			f := &faulty{fault: fault}
			r, err := test(t, f, func(o *conformance.Options) {
				if strings.HasPrefix(fault, "watch ") {
					o.Timeout = 5 * time.Second
				}
				if want == "operations" {
					inputs("", "copy", "shout")(o)
				}
			})
			failed := verdicts(r, report.Fail)
			if err != nil || r.Status != report.Fail || !contains(failed, strings.Fields(want)) {
				t.Errorf("failed %v, want %s; %v", failed, want, err)
			}
			for _, c := range r.Checks {
				if c.Verdict == report.Fail {
					lock.Lock()
					seen[c.Name] = true
					lock.Unlock()
					if c.Fix == "" || c.Reason == "" || c.Title == "" {
						t.Errorf("%s does not say what is wrong and how to fix it: %+v", c.Name, c)
					}
				}
				if c.Verdict == report.Skip && c.Reason == "" {
					t.Errorf("%s does not say why it was skipped", c.Name)
				}
			}
			if len(f.texts) > 0 && !r.LeftBehind || len(f.texts) > 0 && find(t, r, "absent").Verdict == report.Pass {
				t.Errorf("%v is left, and the report says %v", f.texts, r.LeftBehind)
			}
		})
	}
	r, _ := test(t, &faulty{}, nil)
	t.Cleanup(func() { everyCheckFails(t, r, seen) }) // when all have ended
}

// everyCheckFails wants a fault for each check of a report.
func everyCheckFails(t *testing.T, r report.Report, seen map[string]bool) {
	t.Helper()
	for _, c := range r.Checks {
		if !seen[c.Name] && c.Name != "config-strict" && c.Name != "destroy-again" && c.Name != "renamed" && c.Name != "identity-same" { // these: below
			t.Errorf("no fault makes %s fail", c.Name)
		}
	}
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) }) && len(some) > 0
}

// find gives one check of a report.
func find(t *testing.T, r report.Report, name string) report.Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c report.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %s", name)
	}
	return r.Checks[i]
}

func TestChecks_Advise(t *testing.T) {
	t.Parallel()
	for fault, c := range map[string]struct{ check, reason, fix string }{
		"open schema":      {"config-strict", "a property that it does not know", "additionalProperties"},
		"no schema":        {"config-strict", "no config_schema", "additionalProperties"},
		"goes by its name": {"renamed", "", "moved block"},

		"no identity":       {"identity", "renames and replacements of this type are guessed", `"identity": ["/path"]`},
		"named by its text": {"identity-same", "/text names the object, too", `"identity": ["/path"]`},
		"named by its note": {"identity-same", "/note names the object, too", `"identity": ["/path"]`}, // which the config leaves out
	} {
		t.Run(fault, func(t *testing.T) {
			r, err := test(t, &faulty{fault: fault}, func(o *conformance.Options) {
				if fault == "named by its text" {
					o.Then = nil // which would be another thing
				}
			})
			if err != nil || r.Failed > 0 {
				t.Errorf("%v, %d failed", err, r.Failed)
			}
			got := find(t, r, c.check)
			if got.Verdict != report.Skip || !strings.Contains(got.Reason, c.reason) || !strings.Contains(got.Fix, c.fix) {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("config does not fit", func(t *testing.T) {
		r, _ := test(t, &faulty{fault: "init is greedy"}, nil)
		if c := find(t, r, "config"); !strings.Contains(c.Reason, `lacks "zone"`) {
			t.Errorf("%+v", c)
		}
	})
}

// What somebody else has made is not changed, unless -replace is given.
func TestRun_ResourceExists(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"as wanted": "one", "another": "theirs"} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{texts: map[string]string{"a": text}}
			if _, err := test(t, f, nil); err == nil || !strings.Contains(err.Error(), "-replace") {
				t.Error(err)
			}
			if !maps.Equal(f.texts, map[string]string{"a": text}) || f.writes > 0 {
				t.Errorf("%v after %d writes", f.texts, f.writes)
			}
		})
		t.Run(name+", replaced", func(t *testing.T) {
			f := &faulty{texts: map[string]string{"a": text}}
			r, err := test(t, f, func(o *conformance.Options) { o.Replace = true })
			if err != nil || r.Status != report.Pass || len(f.texts) > 0 || find(t, r, "remove-existing").Verdict != report.Pass {
				t.Errorf("%v, %v, %+v", err, f.texts, r)
			}
		})
	}
	t.Run("cannot be removed", func(t *testing.T) {
		f := &faulty{fault: "remove does nothing", texts: map[string]string{"a": "theirs"}}
		r, err := test(t, f, func(o *conformance.Options) { o.Replace = true })
		if err != nil || find(t, r, "remove-existing").Verdict != report.Fail || find(t, r, "actions").Verdict != report.Skip {
			t.Errorf("%v %+v", err, r)
		}
	})
}

func TestRun_KeepsTheResource(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	r, err := test(t, f, func(o *conformance.Options) { o.Keep = true })
	if err != nil || r.Status != report.Pass || !r.LeftBehind || f.texts["a"] != "two" {
		t.Errorf("%v %v %+v", err, f.texts, r)
	}
	if c := find(t, r, "destroy-again"); c.Verdict != report.Skip {
		t.Errorf("%+v", c)
	}
}

// Removing works only once.
func TestChecks_DestroyAgainFails(t *testing.T) {
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
	if err != nil || !slices.Equal(verdicts(r, report.Fail), []string{"destroy-again"}) || !r.LeftBehind {
		t.Errorf("%v %+v", err, r)
	}
	if c := find(t, r, "update"); c.Verdict != report.Skip {
		t.Errorf("%+v", c)
	}
}

func TestRun_CannotTest(t *testing.T) {
	t.Parallel()
	fake := runnertest.NewFake()
	answer := func(init string) runnertest.Program {
		return func(_ context.Context, _ runner.Spec, _ io.Reader, out, _ io.Writer) int {
			_, _ = io.WriteString(out, init)
			return 0
		}
	}
	fake.Add("acme/text", (&faulty{texts: map[string]string{}}).run)
	fake.Add("acme/plugs", answer(`{"plugs":{"a":{"container_path":"/a"},"b":{"container_path":"/b","optional":true}},"state_action":{"args":["state"]}}`))
	fake.Add("acme/needs", answer(`{"label":"One","required_resources":{"net":"acme/net"},"state_action":{"args":["state"]}}`))
	for _, c := range []struct {
		name, image string
		plugs       map[string]conformance.Plug
		want, not   string
	}{
		{"no image", "acme/other", nil, "not found", "-plug"},
		{"a plug that nobody asks for", "acme/text", map[string]conformance.Plug{"x": {Path: "/"}}, "It has no plugs", "-plug"},
		{"a plug is missing", "acme/plugs", nil, "-plug a=PATH", "-plug b"},
		{"a plug is read only", "acme/plugs", map[string]conformance.Plug{"a": {Path: t.TempDir(), ReadOnly: true}}, ":ro", "-plug"},
		{"dependencies", "acme/needs", nil, "dependencies (net)", "-plug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := conformance.Run(t.Context(), conformance.Options{Runner: fake, Image: c.image, Plugs: c.plugs, Config: json.RawMessage(config)})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
				t.Error(err)
			}
		})
	}
}

func TestRun_Interrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f, fake := &faulty{texts: map[string]string{}}, runnertest.NewFake()
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
		t.Errorf("%v %+v", err, r)
	}
}

func TestRun_ProtocolOne(t *testing.T) {
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
	if err != nil || r.Failed > 0 || !r.LeftBehind || r.Protocol != 1 || find(t, r, "valid").Verdict != report.Pass {
		t.Errorf("%v %+v", err, r)
	}
	if c := find(t, r, "absent"); c.Verdict != report.Skip || !strings.Contains(c.Reason, "absent") {
		t.Errorf("%+v", c)
	}
	// Once more: it is there, and nothing would be done to it.
	if r, err = conformance.Run(t.Context(), o); err != nil || r.Failed > 0 || r.LeftBehind || find(t, r, "actions").Verdict != report.Skip {
		t.Errorf("%v %+v", err, r)
	}
}

func TestReport_HasExchangesWithoutSecrets(t *testing.T) {
	t.Parallel()
	hide := func(o *conformance.Options) {
		o.Hide = func(s string) string { return strings.ReplaceAll(s, "hunter22", "(hidden)") }
	}
	t.Run("callbacks", func(t *testing.T) {
		var done []string
		about := 0
		r, err := test(t, &faulty{fault: "prints secrets"}, func(o *conformance.Options) {
			hide(o)
			o.About = func(protocol.Type) { about = len(done) }
			o.Done = func(c report.Check) { done = append(done, c.Name) }
		})
		if err != nil || len(done) != len(r.Checks) || about != 1 {
			t.Errorf("%v, done %v, about after %d", err, done, about)
		}
	})
	r, err := test(t, &faulty{fault: "write fails"}, hide)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("exchanges", func(t *testing.T) {
		c := find(t, r, "actions")
		last := c.Exchanges[len(c.Exchanges)-1]
		if last.Step != "test/write" || last.ExitCode != 7 || !strings.Contains(last.Stdin, `"password":"(hidden)"`) || !slices.Equal(last.Args, []string{"write"}) {
			t.Errorf("%+v", last)
		}
	})
	t.Run("no secrets", func(t *testing.T) {
		whole, err := json.Marshal(r)
		if err != nil || strings.Contains(string(whole), "hunter22") {
			t.Errorf("%v %s", err, whole)
		}
	})
}
