//go:build mutants

package match_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants take out one rule each. Those of the engine are of its model here.
func mutants() []mutation.Fault {
	at := func(name, file, was, is string) mutation.Fault {
		return mutation.In(name, "plan/match/"+file, was, is)
	}
	return []mutation.Fault{
		at("an identity is found at its own address only", "match.go", "range byIdentity[id] {", "range byIdentity[id][:0] {"),
		at("another thing at the same address is an update", "match.go", "m.take(declared, recorded, Other)", "m.take(declared, recorded, Address)"),
		at("another host at the same address is an update", "match.go", "relation == Differs && d.Role == Managed && e.Role == Managed {", "false && relation == Differs && len(differences) > 0 {"),
		at("what is unchanged may be guessed away", "match.go", "\tm.unchanged()\n", ""),
		at("nothing is guessed", "match.go", "\tm.guess()\n", ""),
		at("a guess is not asked", "plan_test.go", "if status != old || status == stale && is != was {", "if false && status == old && is == was {"),
		at("a guess holds for the same status", "plan_test.go", "if status != old || status == stale && is != was {", "if status != old || false && is != was {"),
		at("a guess that does not hold leaves the others", "match.go", "return d.Thing.Type.image() }", "return d.Address }"),
		at("hosts are not compared", "thing.go", "if declared.Host != recorded.Host {", "if false {"),
		at("plugs are not compared", "thing.go", "d.Writable && r.Writable && d.Path != r.Path", "false"),
		at("the names of then count for the entries of today", "thing.go", "\t\treturn declared\n\t}\n\treturn recorded\n", "\t\treturn recorded\n\t}\n\treturn recorded\n"),
		at("a left thing of another resource is destroyed", "owners.go", "range o.index.recorded(t) {", "range o.index.recorded(t)[:0] {"),
		at("a left thing of another resource is destroyed, from a mirror", "owners.go", "there && compareKinds(", "there && false && compareKinds("),
		at("a left thing of a guess that held is destroyed", "owners.go", "range o.guessed[t.likeness()] {", "range o.guessed[t.likeness()][:0] {"),
		at("a replaced thing of another resource is destroyed", "match.go", "p.Owner = owner", "p.Owner = \"\""),
		at("what was only looked at is destroyed", "match.go", "Forget: e.Role == ReadOnly,", ""),
		at("a resource that only looks takes the entry of another", "match.go", "func (d Declared) travels() bool { return d.Role == Managed && ", "func (d Declared) travels() bool { return "),
		at("who has lost its address is forgotten", "match.go", "Deposed: e.Deposed || declared[e.Address]", "Deposed: false"),
		at("what may stay is not said", "match.go", "m.pairs[i].MayStay = ", "m.pairs[i].MayStay = false && "),
		at("one thing is made before it is destroyed", "match.go", "d.CreateFirst && p.Why == Other", "d.CreateFirst"),
		at("an identity that comes late is not held against the ends", "result.go", "relation == Equal && !done(key)", "relation == Equal && !done(key) && false"),
		at("a selection takes one end of a move", "order.go", "if p.Moved() {", "if false {"),
		at("ends do not come before beginnings", "order.go", "barriers := o.endsFirst(begins, ends)", "barriers := map[string]string{}"),
		at("edges that lie in a circle stay", "order.go", "!b.LeftOut && circle[at] == circle[b.Node]", "circle[at] == -1"),
		at("ends do not wait for late identities", "order.go", "o.lateFirst(before, ends)\n", ""),
		at("an end that cannot wait waits", "order.go", "if circle[w[0]] == circle[w[1]] {", "if circle[w[0]] == -1 {"),
		at("late identities that are left out are not waited for", "order.go", "return b.LeftOut })", "return false })"),
	}
}

// TestMutants_AreSeen takes out the rules, one after the other, and wants the tests
// to see each.
func TestMutants_AreSeen(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
			test := exec.Command(mutation.Build(t, root, "plan/match", m), "-test.run", "^Test")
			test.Env = append(os.Environ(), "DEPLOYSTER_HISTORIES=16000")
			out, err := test.CombinedOutput()
			if err == nil {
				t.Fatal("no test saw it")
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "_test.go:") {
					t.Logf("seen: %s", strings.TrimSpace(line))
				}
			}
		})
	}
}
