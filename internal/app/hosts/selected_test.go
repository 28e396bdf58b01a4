package hosts

import (
	"fmt"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/state"
)

// A host means what is on it, under its former name too. One with a key is one instance.
func TestSelected_HostMeansItsResources(t *testing.T) {
	t.Parallel()
	on := map[string]*Resident{`web["a"]`: {Addresses: []string{"x"}}, `web["b"]`: {Addresses: []string{"y"}}, "web2": {Addresses: []string{"z"}},
		"db": {}, "old (formerly h)": {Addresses: []string{"w"}, Was: "old"}}
	for addr, want := range map[string]string{"host.web": `[x y], not [x y] or on [web["a"] web["b"]]`, `host.web["b"]`: `[y], not [y] or on [web["b"]]`,
		"host.web2": "[z], not [z] or on [web2]", "host.db": "[host.db], not [] or on [db]", "host.old": "[w], not [w] or on [old (formerly h)]",
		"host.none": "[host.none], not [host.none] or on []", "x": "[x], not [x] or on []"} {
		s := Selected(plan.Selection{Targets: []string{addr}, Excludes: []string{addr}}, on)
		if got := fmt.Sprintf("%v, not %v or on %v", s.Targets, s.Excludes, s.ExcludedHosts); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	prior := state.Snapshot{Resources: map[string]state.Entry{"v": {Settings: runner.Settings{Host: &runner.Host{Name: "gone"}}}}}
	s := Selected(plan.Selection{Targets: []string{"host.gone"}}, Recorded(map[string]*Resident{}, prior))
	if got := fmt.Sprint(s.Targets); got != "[v]" {
		t.Errorf("on what is recorded only: %s", got)
	}
}

// What is looked for on a machine is asked of no other, as long as that is not found. An open
// action holds up nothing where its machine is made anew.
func TestPlaced_QueriesTheMachineOfTheEntryOnly(t *testing.T) {
	t.Parallel()
	prior := state.Snapshot{Resources: map[string]state.Entry{"x": {Settings: runner.Settings{Host: &runner.Host{Name: "web", Machine: "m1"}}}, "here": {}}}
	m, diags := config.Load(config.Sources{Workspace: t.TempDir(), Manifests: []config.File{{Path: "main.hcl"}}}, nil, config.Builtins{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	found := Reached{Pins: map[string]router.Pin{"web": {Unreachable: "no route"}, "front": {Machine: "m2"}}}
	for machine, want := range map[string]string{"m1": "front", "m2": "web"} {
		found.Pins["front"] = router.Pin{Machine: machine}
		if h := Placed(m, found.Pins, prior).Resources["x"].Settings.Host; h.Name != want || h.Machine != "m1" {
			t.Errorf("where front is %s: %+v, want m1 as %s", machine, h, want)
		}
	}
	open := []string{"here", "x"}
	if got := found.Open(open, prior); len(got) != 2 {
		t.Errorf("open: %q", got)
	}
	found.Pins["web"] = router.Pin{Anew: true}
	if got := found.Open(open, prior); len(got) != 1 || got[0] != "here" {
		t.Errorf("made anew, and open: %q", got)
	}
}
