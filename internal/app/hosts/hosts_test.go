package hosts

import (
	"slices"
	"testing"

	"deployster/internal/places"
	"deployster/internal/runner"
	"deployster/state"
)

// What is recorded of a host is on the declared one of its machine: as recorded, or as
// the host of the recorded name says when it is reached.
func TestReached_Former(t *testing.T) {
	t.Parallel()
	entry := func(name, machine string) state.Entry {
		return state.Entry{Settings: runner.Settings{Host: &runner.Host{Name: name, Machine: machine}}}
	}
	prior := state.Snapshot{Resources: map[string]state.Entry{"a": entry("web", "m1"), "b": entry("web", ""), "c": entry("gone", "m2"),
		"d": entry("gone", ""), "e": entry("edge", ""), "here": {}}}
	on := map[string]*Resident{"edge": {Host: runner.Host{Name: "edge"}, Addresses: []string{"x"}}}
	found := Reached{Pins: map[string]places.Pin{"edge": {Machine: "m1"}}}
	former := found.Former(on, prior)
	if len(former) != 2 || !slices.Equal(former["web"].Addresses, []string{"b"}) || !slices.Equal(former["gone"].Addresses, []string{"c", "d"}) {
		t.Fatalf("recorded only: %+v", former)
	}
	if got := on["edge"].Addresses; !slices.Equal(got, []string{"x", "a", "e"}) {
		t.Errorf("on edge: %q", got)
	}
	more := Reached{Pins: map[string]places.Pin{"web": {Machine: "m1"}, "gone": {Unreachable: "no route"}}}
	found.Add(on, former, more)
	if got := on["edge"].Addresses; len(on) != 2 || !slices.Equal(got, []string{"x", "a", "e", "b"}) || on["gone"] == nil {
		t.Errorf("on: %+v, on edge: %q", on, got)
	}
	if found.Pins["gone"].Unreachable == "" || found.Pins["web"].Machine != "m1" {
		t.Errorf("pins: %+v", found.Pins)
	}
}
