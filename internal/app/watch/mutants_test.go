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
		return mutation.In(name, "internal/app/watch/"+file, was, is)
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
		at("what hangs counts as life", "looks.go", "if hanging[it.lane]++; !it.hangs {", "if !it.hangs {"),
		at("one that hangs counts as all", "looks.go", "if hanging[l] < min(n, l.places) {", "if n == 0 && hanging[l] == 0 {"),
		at("a look that hangs keeps its place from all", "looks.go", "now-it.began >= placeMost {", "false {"),
		at("containers have no limit", "looks.go", "return !it.Cold || ", "return true || "),
		at("what is done beside is cut short", "run.go", "now >= w.MaxRuntime && !busy", "now >= w.MaxRuntime"),
		at("what is done beside counts as quiet", "run.go", "if busy && w.quietSince != never {", "if false {"),
		at("a lane has no limit", "looks.go", "case l.running >= l.places:", "case false:"),
		at("a suspension is not noticed", "run.go", "if slept-w.slept > suspended {", "if false {"),
		at("a new generation waits for the old one", "run.go", "min(w.pauseTo, now+between)", "w.pauseTo"),
		at("a process that ended is believed", "process.go", "n.err, n.restart = true, false,", "n.err, n.restart = true, true,"),
		at("a process that is late is not ended", "process.go", "func() { end(errLate) }", "func() {}"),
		at("who begins to watch is not looked at", "process.go", "case n.turned && n.live: //", "case n.turned && n.live && false: //"),
		at("what is not watched any more is not polled", "process.go", "case n.turned && !it.looking && it.Alone > 0:", "case false:"),
		at("a process that lies is not started anew", "looks.go", "it.process.restart()", "_ = it"),
		at("a process that lies is believed", "item.go", "if it.live && now >= it.distrust {", "if it.live {"),
		at("noise is followed", "item.go", "if it.noisy {", "if false {"),
		at("noise is told each time", "item.go", "noise = !it.noisy && it.useless", "noise = it.useless"),
		at("a refusal is told each time", "repairs.go", "if it.refused != it.found {", "if true {"),
		at("a refusal is asked for at each look", "repairs.go", "case look == it.refused && now < it.askAgain:", "case false:"),
		at("a refusal is for ever", "repairs.go", "case look == it.refused && now < it.askAgain:", "case look == it.refused:"),
		at("what was seen before a repair is believed after it", "repairs.go", "it.outdated, it.dirty = true, true", "it.dirty = true"),
		at("what drifts during a repair is forgotten", "repairs.go", "\t\tit.drifted = true\n", "\t\tit.drifted = false\n"),
		at("a process that is gone is busy for ever", "process.go", "n.busy, n.err, n.restart = true, false, new(bool), err, wait", "n.err, n.restart = true, false, err, wait"),
		at("flapping is told each time", "repairs.go", " && !it.flapping {", " {"),
		at("polls wait for events", "looks.go", "(timed > now || urgent-head <= timed)", "true"),
		at("events wait for polls", "looks.go", "(timed > now || urgent-head <= timed)", "timed > now"),
		at("what is only told of is repaired", "repairs.go", "case !it.Repair || it.wanted != never:", "case it.wanted != never:"),
		at("a repair has no limit", "repairs.go", "&& len(addrs) < batch {", "{"),
		at("what begins together is polled together", "item.go", "return now + max(gap, within(every))", "return now + every"),
		at("what could not be repaired is at once tried again", "repairs.go", "wait = pause(w.refusals, refusedFirst, refusedMost)", "wait = between"),
		at("what cannot be asked is asked as ever", "looks.go", "wait := about(pause(it.failures, askFirst, askMost))", "wait := about(askFirst)"),
		at("a process is started again at once", "process.go", "wait := about(pause(failures, startFirst, startMost))", "wait := about(startFirst)"),
		at("what a repair found of others is forgotten", "repairs.go", "\tcase Failed:\n\t\tw.look(it, now, Dependency)\n", "\tcase Failed:\n"),
		at("the state of others is asked for again and again", "repairs.go", "wait = refusedMost", "wait = between"),
	}
}

// TestMutants_AreSeen takes out the rules, one after the other, and wants the tests
// to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/app/watch", Run: "^Test(Run|Process)", Flags: []string{"-test.timeout", "2m"}, Sign: "_test.go:"}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
