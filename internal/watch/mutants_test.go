//go:build mutants

package watch_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants take out one rule each.
func mutants() []mutation.Fault {
	at := func(name, file, was, is string) mutation.Fault {
		return mutation.In(name, "internal/watch/"+file, was, is)
	}
	return []mutation.Fault{
		at("an event during a look is lost", "looks.go", "\tif it.dirty {\n", "\tif false {\n"),
		at("events have no rate", "item.go", "return max(now, it.began+least)", "return max(now, it.began+least-least)"),
		at("events get around the back-off", "item.go", "return max(now, it.due) //", "return max(now, it.began+least) //"),
		at("repairs are not held back", "repairs.go", "it.wanted = max(now, it.settled+hold(it.repairs))", "it.wanted = now"),
		at("quiet forgets nothing", "repairs.go", "case now-it.settled >= quiet:", "case false:"),
		at("what failed is not repaired again", "repairs.go", "it.wanted = now + hold(it.repairs)", "it.wanted = never"),
		at("two repairs at one time", "repairs.go", "if at == never || w.batch != nil {", "if at == never {"),
		at("others do not get at the state", "repairs.go", "wait := between", "wait := between - between"),
		at("a poll counts as work", "item.go", "looks := it.why != Poll && it.why != Again", "looks := it.why != Again"),
		at("a lie is not noticed", "looks.go", "polled := it.overlooked(now)", "polled := false"),
		at("a refused repair is forgotten", "repairs.go", "} else if it.Repair {\n\t\t\tit.wanted = now\n", "} else if it.Repair {\n\t\t\tit.wanted = never\n"),
		at("a slow repair is not told of", "repairs.go", "now-w.batchAt < slowFrom ||", "now > 0 ||"),
		at("a look that hangs counts as life", "looks.go", "if hangs = true; !it.hangs {", "if !it.hangs {"),
		at("a lane has no limit", "looks.go", "case l.running >= l.places:", "case false:"),
		at("a suspension is not noticed", "run.go", "if slept-w.slept > suspended {", "if false {"),
		at("a new generation waits for the old one", "run.go", "min(w.pauseTo, now+between)", "w.pauseTo"),
		at("a process that ended is believed", "process.go", "n.err, n.restart = true, false,", "n.err, n.restart = true, true,"),
	}
}

// TestMutants_AreSeen takes out the rules, one after the other, and wants the tests
// to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/watch", Run: "^TestRun", Flags: []string{"-test.timeout", "2m"}, Sign: "_test.go:"}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
