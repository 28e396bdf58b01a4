package hosts

import (
	"maps"
	"slices"
	"testing"

	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
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
	found := Reached{Pins: map[string]router.Pin{"edge": {Machine: "m1"}}}
	former := found.Former(on, prior)
	if len(former) != 2 || !slices.Equal(former["web"].Addresses, []string{"b"}) || !slices.Equal(former["gone"].Addresses, []string{"c", "d"}) {
		t.Fatalf("recorded only: %+v", former)
	}
	if got := on["edge"].Addresses; !slices.Equal(got, []string{"x", "a", "e"}) {
		t.Errorf("on edge: %q", got)
	}
	more := Reached{Pins: map[string]router.Pin{"web": {Machine: "m1"}, "gone": {Unreachable: "no route"}}}
	found.Add(on, former, more)
	if got := on["edge"].Addresses; len(on) != 2 || !slices.Equal(got, []string{"x", "a", "e", "b"}) || on["gone"] == nil {
		t.Errorf("on: %+v, on edge: %q", on, got)
	}
	if found.Pins["gone"].Unreachable == "" || found.Pins["web"].Machine != "m1" {
		t.Errorf("pins: %+v", found.Pins)
	}
}

// Where another machine has the name of a recorded one, that is looked for as it was
// reached: it is there, or it has no name any more.
func TestReached_Formerly(t *testing.T) {
	t.Parallel()
	entry := func(name, address, machine string) state.Entry {
		return state.Entry{Settings: runner.Settings{Host: &runner.Host{Name: name, Address: address, Machine: machine}}}
	}
	const former = "web (formerly 10.0.0.1)"
	for name, c := range map[string]struct {
		address string // of web now
		answers router.Pin
		want    string // the host that x is on
	}{
		"it answers":                   {"10.0.0.2", router.Pin{Machine: "m1"}, former},
		"another one answers":          {"10.0.0.2", router.Pin{Machine: "m3"}, "web"},
		"nothing answers":              {"10.0.0.2", router.Pin{Unreachable: "no route"}, "web"},
		"it is web that is reached so": {"10.0.0.1", router.Pin{Machine: "m1"}, "web"},
	} {
		prior := state.Snapshot{Resources: map[string]state.Entry{"x": entry("web", "10.0.0.1", "m1")}}
		on := map[string]*Resident{"web": {Host: runner.Host{Name: "web", Address: c.address}}}
		found := Reached{Pins: map[string]router.Pin{"web": {Machine: "m2"}}}
		asked := found.Former(on, prior)
		if _, ask := asked[former]; ask != (c.address == "10.0.0.2") {
			t.Errorf("%s: looked for as %v", name, asked)
		}
		found.Add(on, asked, Reached{Pins: map[string]router.Pin{former: c.answers}})
		if on[c.want] == nil || !slices.Equal(on[c.want].Addresses, []string{"x"}) || (found.Pins[former].Machine != "") != (c.want == former) {
			t.Errorf("%s: on %+v, pins %+v", name, on, found.Pins)
		}
	}
}

// What is recorded on a machine that answers nowhere may be on one that is down, as long
// as nothing says that this is another.
func TestReached_Lost(t *testing.T) {
	t.Parallel()
	at := func(name, address, machine string) state.Entry {
		return state.Entry{Settings: runner.Settings{Host: &runner.Host{Name: name, Address: address, Machine: machine}}}
	}
	prior := state.Snapshot{Resources: map[string]state.Entry{"x": at("web", "10.0.0.1", "m1"), "y": at("db", "10.0.0.2", "m2"),
		"z": at("new", "10.0.0.3", ""), "here": {}}}
	pins := map[string]router.Pin{"web": {Machine: "m3"}, "db": {Machine: "m2"}}
	for down, want := range map[string][]string{"10.0.0.1": {"x"}, "10.0.0.2": nil, "10.0.0.9": {"x"}, "": nil} {
		found, on := Reached{Pins: maps.Clone(pins)}, map[string]*Resident{"web": {}, "db": {}}
		if down != "" {
			found.Pins["edge"], on["edge"] = router.Pin{Unreachable: "no route"}, &Resident{Host: runner.Host{Name: "edge", Address: down}}
		}
		if got := found.Lost(on, prior); !slices.Equal(got, want) {
			t.Errorf("%s is down: %q, want %q", down, got, want)
		}
	}
}

// Two hosts are reached in the same way only if every setting is equal.
func TestWay_ComparesSettings(t *testing.T) {
	t.Parallel()
	host := func(options ...string) runner.Host {
		return runner.Host{Name: "web", Address: "10.0.0.1", SSHOptions: options, Machine: "m1"}
	}
	other := host("-F", "a b")
	other.Name, other.Machine = "db", "m2"
	if way(host("-F", "a b")) != way(other) {
		t.Error("the name or the machine counts")
	}
	if way(host("-F", "a b")) == way(host("-F", "a", "b")) {
		t.Error("other ssh options are the same way")
	}
}

// Several hosts may be one namespace of a cluster: what is recorded on one of them is there, and what is
// recorded on a host that is no longer declared is on the first.
func TestReached_FormerOfOneNamespace(t *testing.T) {
	t.Parallel()
	prior, on := state.Snapshot{Resources: map[string]state.Entry{}}, map[string]*Resident{}
	found := Reached{Pins: map[string]router.Pin{}}
	for _, name := range []string{"a", "b", "c"} {
		prior.Resources["on_"+name] = state.Entry{Settings: runner.Settings{Host: &runner.Host{Name: name, Machine: "uid"}}}
		if name != "c" {
			on[name], found.Pins[name] = &Resident{Host: runner.Host{Name: name}}, router.Pin{Machine: "uid"}
		}
	}
	if former := found.Former(on, prior); len(former) > 0 {
		t.Errorf("%+v", former)
	}
	if a, b := on["a"].Addresses, on["b"].Addresses; !slices.Equal(a, []string{"on_a", "on_c"}) || !slices.Equal(b, []string{"on_b"}) {
		t.Errorf("on a %q, on b %q", a, b)
	}
}
