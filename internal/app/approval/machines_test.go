package approval

import (
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/state"
)

func whole(image, host string, part change.Part) *plan.Step {
	s := &plan.Step{Type: image, Part: part, Settings: runner.Settings{WholeMachine: true}}
	if host != "" {
		s.Settings.Host = &runner.Host{Name: host}
	}
	return s
}

func recorded(image, host string, given bool) state.Snapshot {
	e := state.Entry{Type: image, Settings: runner.Settings{WholeMachine: given}}
	if host != "" {
		e.Settings.Host = &runner.Host{Name: host}
	}
	return state.Snapshot{Resources: map[string]state.Entry{"other": e}}
}

// A grant is of one repository for one machine, and is known by the entries that were made with it.
func TestNewGrants_AreThoseThatNoEntryHas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step  *plan.Step
		prior state.Snapshot
		want  int
	}{
		"nothing is recorded":   {whole("acme/m:1", "", &change.Create{}), state.Snapshot{}, 1},
		"another version":       {whole("acme/m:2", "", &change.Create{}), recorded("acme/m:1#file", "", true), 0},
		"another image":         {whole("acme/n:1", "", &change.Create{}), recorded("acme/m:1", "", true), 1},
		"another machine":       {whole("acme/m:1", "b", &change.Create{}), recorded("acme/m:1", "a", true), 1},
		"the same machine":      {whole("acme/m:1", "a", &change.Create{}), recorded("acme/m:1", "a", true), 0},
		"it was confined":       {whole("acme/m:1", "", &change.Valid{}), recorded("acme/m:1", "", false), 1},
		"it is only forgotten":  {whole("acme/m:1", "", &change.Forget{}), state.Snapshot{}, 0},
		"it is left":            {whole("acme/m:1", "", &change.Left{}), state.Snapshot{}, 0},
		"it is confined":        {&plan.Step{Type: "acme/m:1", Part: &change.Create{}}, state.Snapshot{}, 0},
		"what is replaced has":  {&plan.Step{Part: &change.Replace{Old: whole("acme/m:1", "", &change.Destroy{})}}, state.Snapshot{}, 1},
		"a name in a registry":  {whole("docker.io/deployster/m", "", &change.Create{}), recorded("deployster/m", "", true), 1},
		"it comes with this":    {whole("deployster/m#b", "", &change.Create{}), recorded("deployster/m#a", "", true), 0},
		"by another of a state": {whole("docker.io/acme/m", "", &change.Create{}), recorded("acme/m:1", "", true), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &plan.Plan{Resources: map[string]*plan.Step{"a": c.step}}
			if got := newGrants(p, c.prior); len(got) != c.want {
				t.Errorf("%v", got)
			}
			if err := RefuseNewGrants(p, c.prior); (err == nil) != (c.want == 0) {
				t.Errorf("a watch: %v", err)
			}
		})
	}
}

// Who gives the grant: the answer to the plan, a saved plan, -auto-approve, and -approve by name only.
func TestApprove_WholeMachine(t *testing.T) {
	t.Parallel()
	word := func(text string) *string { return &text }
	for name, c := range map[string]struct {
		o     Options
		saved bool
		valid bool // the plan changes nothing else
		want  string
	}{
		"a person":              {o: Options{Ask: true}, want: "Not approved"},
		"a person, no change":   {o: Options{Ask: true}, valid: true, want: "Not approved"},
		"nobody":                {want: "Approval required"},
		"-auto-approve":         {o: Options{Auto: true}},
		"a saved plan":          {saved: true},
		"-approve without it":   {o: Options{Kinds: word("create")}, want: "whole-machine (a)"},
		"-approve with it":      {o: Options{Kinds: word("create,whole-machine")}},
		"-approve, no change":   {o: Options{Kinds: word("create")}, valid: true, want: "whole-machine (a)"},
		"saved, other kinds":    {o: Options{Kinds: word("create")}, saved: true, want: "whole-machine (a)"},
		"each action":           {o: Options{Ask: true, Confirm: word("action")}, want: "Not approved"},
		"each action, approved": {o: Options{Ask: true, Confirm: word("action"), Kinds: word("whole-machine")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := New(c.o, c.saved)
			if err != nil {
				t.Fatal(err)
			}
			p := &plan.Plan{Resources: map[string]*plan.Step{"a": whole("acme/m:1", "", &change.Create{})}, Summary: plan.Summary{Create: 1}}
			if c.valid {
				p = &plan.Plan{Resources: map[string]*plan.Step{"a": whole("acme/m:1", "", &change.Valid{})}}
			}
			var person asker
			err = a.Approve(t.Context(), &person, p, state.Snapshot{}, ".", &apply.Options{})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.o.Ask && c.want != "" && !strings.HasPrefix(person.question, "These get the whole machine, as root, for the first time: a.\n") {
				t.Errorf("the question is %q", person.question)
			}
		})
	}
}
