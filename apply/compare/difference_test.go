package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/internal/base/secret"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
)

func TestDifferences_NameEachDeviationFromThePlan(t *testing.T) {
	t.Parallel()
	action := func(name string, args ...string) protocol.Action {
		return protocol.Action{Name: name, Command: protocol.Command{Args: args}}
	}
	step := &plan.Step{Part: &change.Update{Answer: change.Answer{Stale: json.RawMessage(`{"size":1,"same":true,"key":"old","list":[1,2],"gone":{"a":1}}`), Actions: []protocol.Action{action("resize", "resize")}, Reasons: []protocol.Reason{{Path: "/size", Message: "too small"}}}}}
	found := protocol.Answer{Status: protocol.Stale, StaleState: json.RawMessage(`{"size":2,"same":true,"key":"new","list":[1,3]}`),
		Actions:       []protocol.Action{action("grow", "grow", "--to="+strings.Repeat("very ", 30)+"large"), action("restart")},
		ShutdownFirst: &protocol.Action{Name: "stop"}}
	list := Answers(step, found, Secrets{Hidden: []string{"/key"}})
	got := SideBySide(list)
	want := `                shown                   found
state /gone/a   1                       (none)
state /key      (sensitive value)       (sensitive value)
state /list/1   2                       3
state /size     1                       2
reasons         /size too small         (none)
shutdown_first  (none)                  stop
actions         resize args=["resize"]  grow args=["grow" "--to=very
                                        very very very very very very
                                        very very very very very very
                                        ...
                                        restart
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, not := range []string{"old", "same", "status"} {
		if strings.Contains(got, not) {
			t.Errorf("%s in\n%s", not, got)
		}
	}
	for _, l := range strings.Split(got, "\n") {
		if len(l) > tableWidth {
			t.Errorf("a line of %d characters: %s", len(l), l)
		}
	}
}

// Of values of megabytes only the part is quoted where they begin to differ.
func TestLongDifferences_AreShort(t *testing.T) {
	t.Parallel()
	text := func(s string) json.RawMessage { return encoded(map[string]string{"text": s}) }
	long := strings.Repeat("x", 1<<20)
	list := Documents("config", text(long+"here"+long), text(long+"there"+long), Secrets{})
	if len(list) != 1 || len(list[0].Shown) > 2*quoteBytes || len(list[0].Found) > 2*quoteBytes ||
		!strings.Contains(string(list[0].Shown), "here") || !strings.Contains(string(list[0].Found), "there") {
		t.Errorf("%.3000s", encoded(list))
	}
	if text := SideBySide(list); len(text) > 1000 || !strings.Contains(text, "there") {
		t.Errorf("%s", text)
	}
}

// A part of a value may end in the middle of a secret, which nobody recognises then.
func TestLongDifferences_HideSecretsBeforeTheyAreCut(t *testing.T) {
	t.Parallel()
	const password = "a-password-of-some-length"
	hide := secret.NewHider([]string{password}).Hide
	text := func(s string) json.RawMessage { return encoded(map[string]string{"text": s}) }
	for before := quoteBytes - 60; before < quoteBytes; before++ {
		long := strings.Repeat("x", before) + password + strings.Repeat("y", 100)
		list := Documents("config", text("here"+long), text("there"+long), Secrets{Hide: hide})
		if got := string(encoded(list)); strings.Contains(got, password[:4]) {
			t.Fatalf("%d bytes before it: %s", before, got[len(got)-100:])
		}
	}
}
