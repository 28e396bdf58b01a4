package apply_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/protocol"
)

// scripted is a type that answers what a test wants of it.
type scripted struct {
	mu     sync.Mutex
	init   string // what it says of itself beside its protocol and its state action
	answer func(in protocol.StateInput, args []string) (answer string, exit int)
	acted  []string
	shown  []string // the effects that its actions were given as shown
}

func (s *scripted) program(_ context.Context, spec runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	var in protocol.ActionInput
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	if len(spec.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,`+s.init+`"state_action":{"args":["state"]}}`)
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if spec.Args[0] != "state" {
		s.acted = append(s.acted, spec.Args[0])
		s.shown = append(s.shown, string(in.ShownEffects))
	}
	answer, exit := s.answer(in.StateInput, spec.Args)
	if exit != 0 {
		_, _ = io.WriteString(stderr, "no luck\n")
	}
	_, _ = io.WriteString(stdout, answer)
	return exit
}

// What a resource waits for comes true, and its config turns out to be one that cannot
// be: it fails at its turn, and nothing of it is run.
func TestRun_ConfigAtItsTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ b, want string }{
		"it cannot be evaluated": {`v = 10 / resource.a.state.n`, "ivi"},
		"a value is not there":   {`v = resource.a.state.missing`, "missing"},
		"it violates its schema": {`v = resource.a.state.text`, "integer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			made := false
			a := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
				switch {
				case args[0] == "make":
					made = true
				case made:
					return `{"status":"VALID","state":{"n":0,"text":"many"}}`, 0
				}
				return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
			}}
			b := &scripted{init: `"config_schema":{"type":"object","properties":{"v":{"type":"integer"}}},`,
				answer: func(protocol.StateInput, []string) (string, int) {
					return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
				}}
			e.fake.Add("test/a:1", a.program)
			e.fake.Add("test/b:1", b.program)
			report := e.do(t, "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\nresource \"b\" {\n  type = \"test/b:1\"\n  config = {\n    "+c.b+"\n  }\n}\n")
			if got := report.Resources["b"]; got.Status != apply.Error || got.Failed != "config" {
				t.Errorf("b: %s", encode(got))
			}
			if text := encode(report.Problems); !strings.Contains(text, c.want) {
				t.Errorf("told %s, want %s", text, c.want)
			}
			if len(b.acted) > 0 {
				t.Errorf("and yet it did %q", b.acted)
			}
		})
	}
}

// A state that cannot be asked keeps the actions from being run, and is not taken for
// right after them.
func TestRun_StateThatCannotBeQueried(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		works int // how often it can be asked
		acted int
	}{
		"before the actions": {1, 0},
		"after the actions":  {2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, asked := newEngine(t.TempDir()), 0
			s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
				if args[0] != "state" {
					return "", 0
				}
				if asked++; asked > c.works {
					return "", 1
				}
				return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
			}}
			e.fake.Add("test/a:1", s.program)
			report := e.do(t, "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\n"+thing("b", "v", "resource.a.state.v"))
			a, b := report.Resources["a"], report.Resources["b"]
			if a.Status != apply.Error || a.Failed != "state" || a.ExitCode != 1 || b.Status != apply.NotStarted || len(s.acted) != c.acted {
				t.Errorf("a %s, b %s, acted %q", encode(a), encode(b), s.acted)
			}
		})
	}
}

// The actions ended well, and what they were for is not so: that is an error, and
// nothing is built upon it.
func TestRun_ActionsThatDidNotHelp(t *testing.T) {
	t.Parallel()
	make := `"actions":[{"name":"make","args":["make"]}]`
	for name, c := range map[string]struct{ before, after, want string }{
		"still not right":          {`{"status":"STALE",` + make + `}`, `{"status":"STALE","staleState":{},` + make + `}`, "Still not up to date after its actions"},
		"other than it was said":   {`{"status":"STALE","forecast":{"id":"x"},` + make + `}`, `{"status":"VALID","state":{"id":"y"}}`, "not what the image forecast"},
		"what was said is missing": {`{"status":"STALE","forecast":{"id":"x"},` + make + `}`, `{"status":"VALID","state":{}}`, "not what the image forecast"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, now := newEngine(t.TempDir()), c.before
			s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
				if args[0] == "make" {
					now = c.after
				}
				return now, 0
			}}
			e.fake.Add("test/a:1", s.program)
			report := e.do(t, "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\n"+strings.Replace(thing("b"), "config", "depends_on = [resource.a]\n  config", 1))
			a, b := report.Resources["a"], report.Resources["b"]
			if a.Status != apply.Error || a.Failed != "state" || !strings.Contains(encode(report.Problems), c.want) || b.Status != apply.NotStarted {
				t.Errorf("a %s, b %s: %v", encode(a), encode(b), summaries(report.Problems))
			}
			if entry := e.recorded(t).Resources["a"]; !entry.Incomplete() {
				t.Errorf("recorded as right: %s", encode(entry))
			}
		})
	}
}

// A plan that replaces something is not carried out when something else has been
// made upon it since.
func TestCheck_NewDependantOfWhatIsReplaced(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.do(t, thing("a"))
	_, p := e.selected(thing("a"), plan.Selection{Replace: []string{"a"}})
	e.do(t, thing("a")+strings.Replace(thing("c"), "{", "{\n  depends_on = [resource.a]", 1))
	if _, err := e.apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), "it destroys resource.a, and resource.c was recorded since") {
		t.Errorf("got %v", err)
	}
}
