//go:build mutants

package sharedlog_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants break one rule each.
func mutants() []mutation.Fault {
	at := func(name, file, was, is string) mutation.Fault {
		return mutation.In(name, "internal/sharedlog/"+file, was, is)
	}
	return []mutation.Fault{
		at("own answer: what is there is another's", "claim.go", "if there.ID == e.ID {", "if false {"),
		at("own answer: what is there is ours", "claim.go", "if there.ID == e.ID {", "if true {"),
		at("confirm: a lost answer counts", "claim.go", "for err == nil && !sure && e.Kind", "for err == nil && !sure && e.Kind == \"\" && e.Kind"),
		at("look after opening: nobody looks", "open.go", "if now.Tip.ID != e.ID {", "if false {"),
		at("leave the stones: they go", "compact.go", "return e.Kind == KindOpen && e.Takes != \"\"", "return e.N == 0"),
		at("never below: the state goes too", "compact.go", "if n == 0 || n >= stateAt { // rule 5", "if n == 0 || n > stateAt { // rule 5"),
		at("never below: a later state goes too", "compact.go", "if n := number(key, statePrefix); n == 0 || n >= stateAt {", "if n := number(key, statePrefix); n == 0 {"),
		at("a close is confirmed by a sign of life", "claim.go", "!sure && e.Kind != KindClose", "!sure"),
		at("what was compacted meanwhile is passed over", "view.go", "return Entry{}, nil, errAgain", "return Entry{N: n}, nil, nil"),
	}
}

// TestMutants_AreSeen breaks the rules, one after the other, and wants the random
// histories to see each.
func TestMutants_AreSeen(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
			out, err := exec.Command(mutation.Build(t, root, "internal/sharedlog", m), "-test.run", "^TestModel", "-test.timeout", "2m").CombinedOutput()
			if err == nil {
				t.Fatal("no history saw it")
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "seed ") || strings.Contains(line, "panic:") {
					t.Logf("seen: %.200s", strings.TrimSpace(line))
					return
				}
			}
			t.Errorf("it failed otherwise: %.2000s", out)
		})
	}
}
