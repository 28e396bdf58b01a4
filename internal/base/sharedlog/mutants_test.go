//go:build mutants

package sharedlog_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants break one rule each.
func mutants() []mutation.Fault {
	at := func(name, file, was, is string) mutation.Fault {
		return mutation.In(name, "internal/base/sharedlog/"+file, was, is)
	}
	return []mutation.Fault{
		at("own answer: what is there is another's", "claim.go", "if there.ID == e.ID {", "if false {"),
		at("own answer: what is there is ours", "claim.go", "if there.ID == e.ID {", "if true {"),
		at("confirm: a lost answer counts", "claim.go", "for err == nil && !sure && e.Kind", "for err == nil && !sure && e.Kind == \"\" && e.Kind"),
		at("look after opening: nobody looks", "open.go", "if now.Tip.ID != e.ID {", "if false {"),
		at("end the earlier ones: nobody can find them", "open.go", "return o.Holds(n)", "return nil"),
		at("an entry has a checksum: nobody checks it", "entry.go", "return e.Sum == hash(", "return true || e.Sum == hash("),
		at("a mark names the tip: nobody reads it", "mark.go", "if err != nil || t.mark.n <= t.last {", "if true {"),
		at("a mark names the tip: it comes before its entry", "mark.go", "newMark(c.n, c.hash)", "newMark(c.n+1, c.hash)"),
		at("leave the tombstones: they go", "compact.go", "return e.Kind == KindOpen && e.Takes != \"\"", "return e.N == 0"),
		at("never below: the state goes too", "compact.go", "if n == 0 || n >= stateAt { // rule 5", "if n == 0 || n > stateAt { // rule 5"),
		at("never below: a later state goes too", "compact.go", "if n := number(key, statePrefix); n == 0 || n >= stateAt {", "if n := number(key, statePrefix); n == 0 {"),
		at("a close is confirmed by a sign of life", "claim.go", "!sure && e.Kind != KindClose", "!sure"),
		at("what was compacted meanwhile is missing", "view.go", "return Entry{}, nil, errAgain", "return Entry{}, nil, err"),
	}
}

// presenceMutants break the rule that a new holder ends the earlier ones of its machine, and no other process.
func presenceMutants() []mutation.Fault {
	at := func(name, file, was, is string) mutation.Fault {
		return mutation.In(name, "internal/base/sharedlog/"+file, was, is)
	}
	return []mutation.Fault{
		at("who waits is ended too", "earlier.go", "h.N == 0 || h.N >= n", "h.N >= n"),
		at("a later holder is ended too", "earlier.go", "h.N == 0 || h.N >= n", "h.N == 0"),
		at("a process with its number is ended", "earlier.go", "|| now.Ended() || now.Started != h.Started", "|| now.Ended()"),
		at("nobody is ended", "earlier.go", "fd, unix.SIGKILL, nil, 0", "fd, 0, nil, 0"),
	}
}

// TestMutants_OfPresenceAreSeen breaks that rule, and wants its tests to see each fault.
func TestMutants_OfPresenceAreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/base/sharedlog", Run: "^TestPresence", Flags: []string{"-test.timeout", "2m"}, Sign: "presence_test.go:"}
	for _, m := range presenceMutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}

// TestMutants_AreSeen breaks the rules, one after the other, and wants the random
// histories to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/base/sharedlog", Run: "^TestModel", Flags: []string{"-test.timeout", "2m"}, Sign: "seed "}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
