//go:build mutants

package match_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants take out one rule each. Those of the engine are of its model here.
func mutants() []mutation.Fault {
	return []mutation.Fault{
		mutation.In("an identity is found at its own address only", "plan/match/match.go", "range byIdentity[id] {", "range byIdentity[id][:0] {"),
		mutation.In("another thing at the same address is an update", "plan/match/match.go", "m.take(declared, recorded, Other)", "m.take(declared, recorded, Address)"),
		mutation.In("another host at the same address is an update", "plan/match/match.go", "relation == Differs && d.Role == Managed && e.Role == Managed {", "false && relation == Differs && len(differences) > 0 {"),
		mutation.In("what is unchanged may be guessed away", "plan/match/match.go", "\tm.unchanged()\n", ""),
		mutation.In("nothing is guessed", "plan/match/match.go", "\tm.guess()\n", ""),
		mutation.In("a guess is not asked", "plan/match/plan_test.go", "case status != old || status == identity.Stale && is != was:", "case false && status == old && is == was:"),
		mutation.In("a guess holds for the same status", "plan/match/plan_test.go", "case status != old || status == identity.Stale && is != was:", "case status != old || false && is != was:"),
		mutation.In("a guess that does not hold leaves the others", "plan/match/match.go", "return d.Thing.Type.image() }", "return d.Address }"),
		mutation.In("hosts are not compared", "plan/match/thing.go", "if declared.host() != recorded.host() {", "if false {"),
		mutation.In("plugs are not compared", "plan/match/thing.go", "d.Writable && r.Writable && d.Path != r.Path", "false"),
		mutation.In("the names of then count for the entries of today", "plan/match/thing.go", "\t\treturn declared\n\t}\n\treturn recorded\n", "\t\treturn recorded\n\t}\n\treturn recorded\n"),
		mutation.In("a left thing of another resource is destroyed", "plan/match/owners.go", "range o.index.recorded(t) {", "range o.index.recorded(t)[:0] {"),
		mutation.In("a left thing of another resource is destroyed, from a mirror", "plan/match/owners.go", "there && compareKinds(", "there && false && compareKinds("),
		mutation.In("a left thing of a guess that held is destroyed", "plan/match/owners.go", "range o.guessed[t.likeness()] {", "range o.guessed[t.likeness()][:0] {"),
		mutation.In("a replaced thing of another resource is destroyed", "plan/match/match.go", "p.Owner, p.Unsure = owner, !sure", "p.Unsure = sure"),
		mutation.In("what was only looked at is destroyed", "plan/match/match.go", "Forget: e.Role == ReadOnly,", ""),
		mutation.In("a resource that only looks takes the entry of another", "plan/match/match.go", "func (d Declared) travels() bool { return d.Role == Managed && ", "func (d Declared) travels() bool { return "),
		mutation.In("who has lost its address is forgotten", "plan/match/match.go", "Deposed: e.Deposed || declared[e.Address]", "Deposed: false"),
		mutation.In("what may stay is not said", "plan/match/match.go", "m.pairs[i].MayStay = d.travels() && e.travels() && d.mayLeave(e)", "m.pairs[i].MayStay = false"),
		mutation.In("one thing is made before it is destroyed", "plan/match/plan_test.go", "s.Why == match.Other && p.declared", "p.declared"),
		mutation.In("an identity that comes late is not held against the ends", "plan/match/plan_test.go", "relation == match.Equal && !done(key)", "relation == match.Equal && !done(key) && false"),
		mutation.In("ends do not come before beginnings", "plan/match/order.go", "barriers := o.endsFirst(begins, ends)", "barriers := map[string][]string{}"),
		mutation.In("nothing waits for an end that comes after its successor", "plan/match/order.go", "[]bool{false, true} {", "[]bool{false} {"),
		mutation.In("edges that lie in a circle stay", "plan/match/order.go", "!b.LeftOut && circle[at] == circle[b.Node]", "circle[at] == -1"),
		mutation.In("ends do not wait for late identities", "plan/match/order.go", "o.lateFirst(before, ends)\n", ""),
		mutation.In("an end that cannot wait waits", "plan/match/order.go", "if circle[w[0]] == circle[w[1]] {", "if circle[w[0]] == -1 {"),
		mutation.In("late identities that are left out are not waited for", "plan/match/order.go", "return b.LeftOut })", "return false })"),
	}
}

// TestMutants_AreSeen takes out the rules, one after the other, and wants the tests
// to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "plan/match", Run: "^Test", Env: []string{"DEPLOYSTER_HISTORIES=16000"}, Sign: "_test.go:"}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
