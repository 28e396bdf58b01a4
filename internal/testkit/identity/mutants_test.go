//go:build mutants

package identity_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutants are faults in the engine, each with the family of histories that is to see it.
func mutants() []struct {
	mutation.Fault
	family string
} {
	return []struct {
		mutation.Fault
		family string
	}{
		{mutation.In("plugs are not compared", "plan/match/thing.go", "d.Writable && r.Writable && d.Path != r.Path", "false"), "plugs"},
		{mutation.In("a plug leads elsewhere and nothing is said", "plan/replace.go", "step.Notes = append(step.Notes, things.Left(why, stays))", "_ = stays"), "plugs"},
		{mutation.In("a left thing of another resource is destroyed", "plan/match/owners.go", "range o.index.recorded(t) {", "range o.index.recorded(t)[:0] {"), "two entries of one thing"},
		{mutation.In("a recovery drops what was recorded", "state/replay.go", "p.snapshot.Resources[r.Address] = e\n\t\tp.settle", "_ = e\n\t\tp.settle"), "crashes"},
		{mutation.In("relative plugs are recorded absolute", "plan/plugs/portable.go", "if below || err == nil", "if false && below && err == nil"), "copies"},
		{mutation.In("what is begun to be made is not recorded", "apply/step.go", "Key: key, Incomplete: out.incomplete,", "Key: key, Incomplete: nil,"), "a first apply that dies"},
		{mutation.In("hosts are not compared", "plan/match/thing.go", "if declared.host() != recorded.host() {", "if false {"), "machines"},
		{mutation.In("a host is its name", "plan/things/hosts.go", "case declared:", "case declared && false:"), "machines"},
		{mutation.In("a host is where its name leads", "plan/things/hosts.go", "if on == nil || on.Machine == \"\" ||", "if true ||"), "machines"},
		{mutation.In("a machine is gone when its host leads elsewhere", "plan/things/hosts.go", "&& h.former[on.Machine] != \"\":", "&& h.former[on.Machine] == \"-\":"), "machines"},
		{mutation.In("what is on a machine that is down is not left out", "internal/app/hosts.go", "s.UnreachedHosts[name] = hosts.Because(name, found.Pins[name])", "s.Unreached = nil"), "machines that are down"},
		{mutation.In("a machine that may be down is gone", "internal/app/hosts/hosts.go", "(behind[\"\"] || behind[h.Machine])", "h == nil"), "machines that are down"},
	}
}

// TestMutants_AreSeen puts the faults into the engine, one after the other, and wants the
// histories to see each.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutants() {
		tests := mutation.Tests{Package: "internal/testkit/identity", Run: "^TestEngine_RandomHistories$", Sign: "_test.go:",
			Env: []string{"DEPLOYSTER_ENGINE_HISTORIES=2000", "DEPLOYSTER_ENGINE_HISTORIES_OF=" + m.family}}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m.Fault) })
	}
}
