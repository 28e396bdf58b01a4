package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/protocol"
)

// packages is a type whose objects bring others along: what its queries name has changed when apply
// queries again.
func packages(now *string, there *bool) *scripted {
	return &scripted{answer: func(in protocol.StateInput, args []string) (string, int) {
		action := func(name string) string {
			return fmt.Sprintf(`{"status":"STALE",%s"actions":[{"name":%q,"args":[%q],"effects":{"adds":[%q]}}]}`,
				map[bool]string{true: `"staleState":{},`}[*there], name, name, *now)
		}
		switch {
		case len(args) == 1 && args[0] != "state":
			*there = args[0] == "install"
			return "", 0
		case in.Intent == protocol.Absent && !*there:
			return `{"status":"MISSING"}`, 0
		case in.Intent == protocol.Absent:
			return action("remove"), 0
		case *there:
			return `{"status":"VALID","state":{}}`, 0
		}
		return action("install"), 0
	}}
}

// Effects are not compared, but the action learns what a person was shown, so that its type can
// refuse to do more.
func TestEffects_AreThoseThatWereShown(t *testing.T) {
	t.Parallel()
	e, now, there := newEngine(t.TempDir()), "before", false
	s := packages(&now, &there)
	e.fake.Add("test/packages:1", s.program)
	p, err := e.plan("resource \"a\" {\n  type = \"test/packages:1\"\n  config = {}\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	now = "since"
	report, err := e.apply(t.Context(), p)
	if want := []string{`{"adds":["before"]}`}; err != nil || report.Status != apply.OK || !slices.Equal(s.shown, want) {
		t.Errorf("%v, %s: the action got %s, want %s", err, encode(report), s.shown, want)
	}
}

// Two objects go, the first of which the removal of the second would have taken along: that there
// is less to do for the second is no reason to refuse it.
func TestEffects_RemovalMayDestroyLessThanWasShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown, found bool // the removal destroys others
		refused      bool
	}{
		"less":     {shown: true},
		"the same": {shown: true, found: true},
		"more":     {found: true, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, destroys := newEngine(t.TempDir()), c.shown
			s := &scripted{}
			s.answer = func(in protocol.StateInput, args []string) (string, int) {
				switch {
				case args[0] != "state" || in.Intent == protocol.Absent && slices.Contains(s.acted, "remove"):
					return `{"status":"MISSING"}`, 0
				case in.Intent == protocol.Absent:
					return fmt.Sprintf(`{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"],"destructive":%t}]}`, destroys), 0
				}
				return `{"status":"VALID","state":{}}`, 0
			}
			e.fake.Add("test/packages:1", s.program)
			e.do(t, "resource \"a\" {\n  type = \"test/packages:1\"\n  config = {}\n}\n")
			p, err := e.plan("")
			if err != nil {
				t.Fatal(err)
			}
			destroys = c.found
			report, err := e.apply(t.Context(), p)
			if err != nil || (report.Status != apply.OK) != c.refused || c.refused != (len(s.acted) == 0) {
				t.Errorf("%v, %s: ran %s", err, encode(report), strings.Join(s.acted, " "))
			}
		})
	}
}
