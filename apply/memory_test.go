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
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// keeper is a type that knows its things by what it remembers of them: the first name
// that each had. Its identity is the id of its config.
func (e *engine) keeper(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"memory":true,"identity":["/id"],"state_action":{"args":["state"]},
"config_schema":{"type":"object","properties":{"id":{"type":"string"},"v":{}}}}`)
		return 0
	}
	var in protocol.ActionInput
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	if in.Memory != nil && json.Unmarshal(in.Memory, &in.Name) != nil {
		return 91
	}
	name := in.Name
	told, err := json.Marshal(in)
	if err != nil {
		return 92
	}
	var out bytes.Buffer
	code := e.world.Program(ctx, s, bytes.NewReader(told), &out, stderr)
	answer := out.String()
	switch {
	case s.Args[0] == "remove":
		answer = `{"memory":null}`
	case s.Args[0] != "state":
		answer = fmt.Sprintf(`{"memory":%q}`, name)
	case strings.HasPrefix(answer, `{"status":"VALID",`):
		answer = strings.Replace(answer, `{`, fmt.Sprintf(`{"memory":%q,`, name), 1)
	}
	_, _ = io.WriteString(stdout, answer)
	return code
}

// What a type remembers says which thing is meant: its identity replaces nothing, moves
// nothing and puts nothing in order. It only tells that two blocks are one thing.
func TestMemory_NamesTheObject(t *testing.T) {
	t.Parallel()
	keep := func(name, id, v string) string { return one("keeper", name, `"`+id+`"`, v) }
	nameless := func(name string) string {
		return fmt.Sprintf("resource %q {\n  type = \"test/keeper:1\"\n  config = {\n    v = 1\n  }\n}\n", name)
	}
	for name, c := range map[string]struct {
		first, then, planned, done, things, fails string
	}{
		"its identity is another": {keep("a", "x", "1"), keep("a", "y", "1"), "a:update", "change a", "a", ""},
		"renamed":                 {keep("a", "x", "1"), keep("b", "x", "1"), "b:valid", "", "a", ""},
		"renamed and changed":     {keep("a", "x", "1"), keep("b", "x", "2"), "a:destroy b:create", "make b, remove a", "b", ""},
		"one of two equal ones goes, the other is renamed": {nameless("a") + nameless("b"), nameless("c"),
			"b:destroy c:valid", "remove b", "a", ""},
		"one goes and another is changed": {keep("a", "x", "1") + keep("b", "y", "1"), keep("b", "y", "2"), "a:destroy b:update",
			"change b, remove a", "b", ""},
		"two blocks, one thing": {keep("a", "x", "1"), keep("a", "x", "1") + keep("b", "x", "2"), "", "", "a", "Duplicate object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.fake.Add("test/keeper:1", e.keeper)
			e.do(t, c.first)
			e.world.TakeLog()
			p, err := e.plan(c.then)
			if got := fmt.Sprint(err); (err != nil) != (c.fails != "") || !strings.Contains(got, c.fails) {
				t.Fatalf("error %q, want %q", got, c.fails)
			}
			if c.fails != "" {
				return
			}
			var planned []string
			for addr, step := range p.Resources {
				planned = append(planned, addr+":"+string(step.Change()))
				if step.Certainty == plan.MayChange {
					t.Errorf("%s may change: %s", addr, step.Reason.Words())
				}
			}
			slices.Sort(planned)
			if got := strings.Join(planned, " "); got != c.planned || len(p.Barriers) > 0 {
				t.Errorf("planned %q with %d barriers, want %q with none", got, len(p.Barriers), c.planned)
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("%v %v", err, summaries(report.Problems))
			}
			done := e.world.TakeLog()
			slices.Sort(done)
			if got := strings.Join(done, ", "); got != c.done || e.there() != c.things {
				t.Errorf("done %q, there is %q, want %q and %q", got, e.there(), c.done, c.things)
			}
			if rest, err := e.plan(c.then); err != nil || rest.HasChanges() {
				t.Errorf("something is left to do: %+v, %v", rest, err)
			}
		})
	}
}

// Where an identity leads nowhere nobody can tell: the resource is found by its address
// and its config.
func TestIdentity_HasNoTarget(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/vague:1", func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) > 0 {
			return e.world.Program(ctx, s, stdin, stdout, stderr)
		}
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"identity":["/id"],"state_action":{"args":["state"]}}`)
		return 0
	})
	vague := func(v string) string {
		return fmt.Sprintf("resource \"a\" {\n  type = \"test/vague:1\"\n  config = {\n    v = %s\n  }\n}\n", v)
	}
	e.do(t, vague("1"))
	e.do(t, vague("2"))
	if got := e.done(); got != "make a, change a" {
		t.Errorf("done %q", got)
	}
	if rest, err := e.plan(vague("2")); err != nil || rest.HasChanges() {
		t.Errorf("something is left to do: %+v, %v", rest, err)
	}
}

// What was adopted, and of which the first action has no end, is found again by what its
// type has said of it, also when its config does not name it any more.
func TestMemory_OfWhatIsAdopted(t *testing.T) {
	t.Parallel()
	for name, actions := range map[string]string{
		"changed":                    `"actions":[{"name":"change","args":["change"]}]`,
		"destroyed to be made anew":  `"actions":[{"name":"end","args":["end"]},{"name":"make","args":["make"]}]`,
		"ended before all else runs": `"actions":[{"name":"make","args":["make"]}],"shutdown_first":{"name":"end","args":["end"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			var told []string // what each action was told to remember
			s := &scripted{init: `"memory":true,`}
			s.answer = func(in protocol.StateInput, args []string) (string, int) {
				switch {
				case args[0] != "state":
					told = append(told, args[0]+" "+string(in.Memory))
					return "", 137 // it is killed
				case in.Memory != nil || strings.Contains(string(in.Config), "import"):
					return `{"status":"STALE","memory":{"id":7},"staleState":{},` + actions + `}`, 0
				}
				return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
			}
			e.fake.Add("test/found:1", s.program)
			const block = "resource \"a\" {\n  type = \"test/found:1\"\n  config = {\n%s\n  }\n}\n"
			e.do(t, fmt.Sprintf(block, "    import = 7"))
			if len(told) != 1 || !strings.HasSuffix(told[0], ` {"id":7}`) {
				t.Fatalf("told %q", told)
			}
			p, err := e.plan(fmt.Sprintf(block, ""))
			if err != nil || p.Resources["a"].Change() != plan.Update {
				t.Errorf("it is made a second time: %+v, %v", p.Resources["a"], err)
			}
		})
	}
}

// unstarted begins no action.
type unstarted struct{ runner.Runner }

func (u unstarted) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Kind == runner.Action {
		return runner.Result{}, errors.New("no room on the disk")
	}
	return u.Runner.Run(ctx, s)
}

// A create whose program was never started is not told to the type as one whose end
// nobody knows.
func TestMemory_OfWhatWasNeverBegun(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/keeper:1", e.keeper)
	e.runner = unstarted{e.fake}
	p, err := e.plan(one("keeper", "a", `"x"`, "1"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Resources["a"].Status != apply.Error {
		t.Fatalf("%+v, %v", report, err)
	}
	s, _, err := state.Load(state.File(e.statePath()))
	if err != nil || len(s.Unsettled) > 0 {
		t.Errorf("unsettled: %+v, %v", s.Unsettled, err)
	}
	e.runner = e.fake
	if e.do(t, one("keeper", "a", `"x"`, "1")); e.there() != "a" {
		t.Errorf("there is %q", e.there())
	}
}
