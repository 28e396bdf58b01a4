package apply_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// safe is a type whose object has a password that cannot be read back: it answers VALID, unless a refresh notifies it.
type safe struct {
	exists   bool
	password string
	now      int  // the value of the secret, of which each has a version of its own
	fails    bool // the next action does
	effect   bool // a failing action has its effect
	tells    bool // its state has the password
	forgets  bool // after a failure it takes the password for set
	failed   bool // an action has failed
	reads    int
}

// Of implements typeclient.Secrets: it reads a value once for each plan and apply.
func (s *safe) Of(context.Context, string, string, bool) (secretgrant.Value, bool, error) {
	return secretgrant.Value{Secret: answers.Secret{Value: fmt.Sprintf("value-%d", s.now), Version: fmt.Sprint(s.now)}, Compared: true}, true, nil
}

// held is what a plan or an apply has read: one value.
type held struct{ value secretgrant.Value }

func (h held) Of(context.Context, string, string, bool) (secretgrant.Value, bool, error) {
	return h.value, true, nil
}

func (s *safe) program(_ context.Context, spec runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	say := func(text string) int { _, _ = io.WriteString(stdout, text); return 0 }
	if len(spec.Args) == 0 {
		return say(`{"protocol":2,"absent":true,"refresh":true,"state_action":{"args":["state"]},
"config_schema":{"type":"object","properties":{"password":{"type":"string","writeOnly":true}}}}`)
	}
	var in struct {
		protocol.ActionInput
		Config struct {
			Password string `json:"password"`
		} `json:"config"`
	}
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	switch {
	case spec.Args[0] == "set":
		if !s.fails || s.effect {
			s.exists, s.password = true, in.Config.Password
		}
		if s.fails {
			s.fails, s.failed = !s.forgets, true
			return 1
		}
		return 0
	case spec.Args[0] == "touch":
		return 0
	case !s.exists:
		return say(`{"status":"STALE","actions":[{"name":"make","args":["set"]}]}`)
	case in.Refresh && s.forgets && s.failed:
		return say(`{"status":"STALE","staleState":{},"actions":[{"name":"touch","args":["touch"]}]}`)
	case in.Refresh && s.forgets:
		return say(`{"status":"STALE","staleState":{},"actions":[{"name":"change","args":["set"]},{"name":"touch","args":["touch"]}]}`)
	case in.Refresh:
		return say(`{"status":"STALE","staleState":{},"actions":[{"name":"change","args":["set"]}]}`)
	case s.tells:
		return say(`{"status":"VALID","state":{"at":"x:` + in.Config.Password + `@y"}}`)
	}
	return say(`{"status":"VALID","state":{}}`)
}

const safeManifest = `secret "db" { type = "acme/vault:1" }
resource "x" {
  type   = "test/safe:1"
  config = { password = secret.db.value }
}
`

func newSafe(t *testing.T) (*engine, *safe) {
	t.Helper()
	e, s := newEngine(t.TempDir()), &safe{now: 1}
	e.fake.Add("test/safe:1", s.program)
	e.secrets = func() typeclient.Secrets {
		v, _, _ := s.Of(t.Context(), "", "", true)
		s.reads++
		return held{v}
	}
	return e, s
}

func (e *engine) planned(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := e.plan(safeManifest)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// nowhere fails if the value is in the state or in a plan.
func (e *engine) nowhere(t *testing.T, p *plan.Plan) {
	t.Helper()
	files := []string{encode(p)}
	for _, name := range []string{e.statePath(), e.statePath() + ".journal"} {
		content, _ := os.ReadFile(name) // it may not exist
		files = append(files, string(content))
	}
	for _, text := range files {
		if strings.Contains(text, "value-") {
			t.Fatalf("a value is recorded: %s", text)
		}
	}
}

// Plans, applies, failures, deaths and rotations in a random order: a plan that has nothing to do is true, and no value
// is in a plan or in the state.
func TestSecrets_RandomSchedulesLoseNoRotation(t *testing.T) {
	t.Parallel()
	quiet := 0
	for seed := range uint64(30) {
		e, s := newSafe(t)
		rnd := rand.New(rand.NewPCG(seed, 1))
		var story []string
		for range 3 + rnd.IntN(8) {
			s.fails, s.effect = false, rnd.IntN(2) == 0
			what := []string{"rotate", "apply", "apply", "fail", "die", "late"}[rnd.IntN(6)]
			story = append(story, what)
			if what == "rotate" {
				s.now = 1 + rnd.IntN(3) // also back to a former value
				continue
			}
			p := e.planned(t)
			if what == "late" {
				s.now = 1 + rnd.IntN(3)
			}
			if what == "die" {
				e.dies(t, 1+rnd.IntN(3), p)
			} else {
				s.fails = what == "fail"
				_, _ = e.apply(t.Context(), p) // it may be stale, or fail
			}
			e.nowhere(t, p)
			s.fails = false
			p = e.planned(t)
			if step := p.Resources["x"]; step.Change() == observe.Valid && len(step.Notes) == 0 {
				if quiet++; s.password != fmt.Sprintf("value-%d", s.now) {
					t.Fatalf("seed %d, %v: the plan has nothing to do, and the object has %s of value-%d", seed, story, s.password, s.now)
				}
			}
		}
	}
	if quiet < 20 {
		t.Errorf("only %d plans had nothing to do", quiet)
	}
}

// A rotation since the plan is applied where an action was shown; elsewhere it is a change that was not shown.
func TestSecrets_RotatedSinceThePlan(t *testing.T) {
	t.Parallel()
	e, s := newSafe(t)
	p := e.planned(t)
	s.now = 2
	if report, err := e.apply(t.Context(), p); err != nil || s.password != "value-2" {
		t.Fatalf("with an action: %v %v, the object has %s", report.Resources, err, s.password)
	}
	if p = e.planned(t); p.Resources["x"].Change() != observe.Valid || len(p.Resources["x"].Notes) != 0 {
		t.Fatalf("after it: %+v", p.Resources["x"])
	}
	s.now = 3
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Resources["x"].Status != "error" || len(report.Resources["x"].Stale) == 0 || s.password != "value-2" {
		t.Errorf("without an action: %+v %v, the object has %s", report.Resources["x"], err, s.password)
	}
	if p = e.planned(t); p.Resources["x"].Change() != observe.Update {
		t.Errorf("the next plan: %s", p.Resources["x"].Change())
	}
}

// VALID alone does not tell which value an object has: what an action left that failed or whose command died is rotated in
// the next plan, and so is what existed before it was declared.
func TestSecrets_ValidAloneIsUnknown(t *testing.T) {
	t.Parallel()
	e, s := newSafe(t)
	s.exists, s.password = true, "another"
	p := e.planned(t)
	if p.Resources["x"].Change() != observe.Update {
		t.Fatalf("adopted: %s", p.Resources["x"].Change())
	}
	s.fails, s.effect = true, false
	_, _ = e.apply(t.Context(), p)
	s.fails = false
	snapshot, _, err := state.Load(state.File(e.statePath()))
	if err != nil || snapshot.Resources["x"].Secrets != nil {
		t.Errorf("after a failure: %v %v", snapshot.Resources["x"].Secrets, err)
	}
	if p = e.planned(t); p.Resources["x"].Change() != observe.Update {
		t.Errorf("after a failure: %s", p.Resources["x"].Change())
	}
}

// An answer with the value is refused, whatever it is around it.
func TestSecrets_StateWithAValueIsRefused(t *testing.T) {
	t.Parallel()
	e, s := newSafe(t)
	e.do(t, safeManifest)
	s.tells = true
	p, err := e.plan(safeManifest)
	if err == nil || !strings.Contains(err.Error(), `"state" has the value of a secret`) || p != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// An action that failed leaves open which value the object has, also if another attempt ends well without it.
func TestSecrets_FailedActionLeavesItUnknown(t *testing.T) {
	t.Parallel()
	e, s := newSafe(t)
	const again = safeManifest + "# again\n"
	source := strings.Replace(again, "  type   = \"test/safe:1\"\n", "  type   = \"test/safe:1\"\n  retry {\n    attempts = 2\n    delay    = \"1ms\"\n  }\n", 1)
	e.do(t, source)
	s.now, s.forgets, s.fails, s.effect = 2, true, true, false
	if report := e.do(t, source); report.Resources["x"].Status != "ok" || s.password != "value-1" {
		t.Fatalf("%+v, the object has %s", report.Resources["x"], s.password)
	}
	if p := e.planned(t); p.Resources["x"].Change() != observe.Update {
		t.Errorf("the next plan: %s", p.Resources["x"].Change())
	}
}

// A value that comes back is a rotation, if the object may have had another one since: its action ended well with that, or
// its command died.
func TestSecrets_FormerValueIsARotation(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		e, s := newSafe(t)
		e.do(t, safeManifest)
		s.now = 2
		if p := e.planned(t); !dies {
			e.do(t, safeManifest)
		} else if !e.dies(t, 1, p) {
			t.Fatal("it did not die")
		}
		s.now, s.password = 1, "value-2"
		if p := e.planned(t); p.Resources["x"].Change() != observe.Update {
			t.Errorf("dies %t: the next plan: %s", dies, p.Resources["x"].Change())
		}
	}
}
