package objects

import (
	"testing"

	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/match"
	"deployster/protocol"
	"deployster/state"
)

// What is sensitive now or was when it was recorded is not said: neither a value below such
// a place, nor one that holds it.
func TestChanged_HidesBothSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, now, recorded, want string }{
		{"/id", "/x", "/y", "/id 1 -> 2"},
		{"/id", "/id", "/y", "/id (sensitive) -> (sensitive)"},
		{"/id", "/x", "/id", "/id (sensitive) -> (sensitive)"},
		{"/id/a", "/x", "/id", "/id/a (sensitive) -> (sensitive)"},
		{"/id", "/x", "/id/a", "/id (sensitive) -> (sensitive)"},
		{"/id", "/id/a", "/y", "/id (sensitive) -> (sensitive)"},
		{"/id", "", "/y", "/id (sensitive) -> (sensitive)"},
		{"/id", "/idea", "/i", "/id 1 -> 2"},
	} {
		if got := Changed([]match.Difference{{What: c.what, Old: "1", New: "2"}}, []string{c.now}, []string{c.recorded}).Words(); got != c.want {
			t.Errorf("%s of %q and %q: %s, want %s", c.what, c.now, c.recorded, got, c.want)
		}
	}
}

// A thing is on the host with that name, however it is reached; on another it is
// another thing.
func TestDeclared_IsOnItsHost(t *testing.T) {
	t.Parallel()
	on := func(name, address string) runner.Settings {
		return runner.Settings{Host: &runner.Host{Name: name, Address: address}}
	}
	recorded := Recorded(state.Entry{Type: "acme/file:1", Config: []byte("{}"), Settings: on("db", "10.0.0.1")})
	for name, c := range map[string]struct {
		settings runner.Settings
		host     string
		differs  bool
	}{
		"the same host":           {on("db", "10.0.0.1"), "db", false},
		"reached by another name": {on("db", "db.example"), "db", false},
		"another host":            {on("web[0]", "10.0.0.1"), "web[0]", true},
		"this machine":            {runner.Settings{}, "", true},
	} {
		declared := Declared(&typeschema.Schemas{}, "acme/file:1", protocol.Type{}, []byte("{}"), c.settings, nil)
		if declared.Host != c.host {
			t.Errorf("%s: on %q, want %q", name, declared.Host, c.host)
		}
		if relation, list := match.Compare(declared, recorded, true); (len(list) > 0) != c.differs || (relation == match.Differs) != c.differs {
			t.Errorf("%s: %v %+v", name, relation, list)
		}
	}
}

// Where a plug leads on a machine that is not known yet makes no other thing.
func TestDeclared_PlugsOfAHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		machine, recorded string // the path that was recorded
		differs           bool
	}{
		"known":          {"m1", "/home/far/x", true},
		"known, as then": {"m1", "~/x", false},
		"not known yet":  {"", "/home/far/x", false},
	} {
		on := runner.Settings{Host: &runner.Host{Name: "db", Machine: c.machine}}
		at := func(path string) []runner.Mount { return []runner.Mount{{Source: path, Target: "/p", Writable: true}} }
		recorded := Recorded(state.Entry{Type: "acme/file:1", Config: []byte("{}"), Settings: on, Mounts: at(c.recorded)})
		declared := Declared(&typeschema.Schemas{}, "acme/file:1", protocol.Type{}, []byte("{}"), on, at("~/x"))
		if relation, list := match.Compare(declared, recorded, true); (relation == match.Differs) != c.differs {
			t.Errorf("%s: %v %+v", name, relation, list)
		}
	}
}

// An entry is where its machine is today, whatever the blocks of hosts are called now.
func TestHosts_Place(t *testing.T) {
	t.Parallel()
	pins := map[string]router.Pin{"web": {Machine: "m1"}, "old": {Machine: "m2"}, "new": {Machine: "m3"}, "down": {Unreachable: "no route"},
		"web (formerly 10.0.0.7)": {Machine: "m7"}, "made": {Anew: true}}
	hosts := Hosts{declared: map[string][]runner.Host{"m1": {{Name: "web", Address: "10.0.0.1", Machine: "m1"}}, "m3": {{Name: "new", Machine: "m3"}}},
		pins: pins, former: map[string]string{"m7": "web (formerly 10.0.0.7)"}}
	for _, c := range []struct {
		recorded, machine string
		name, is          string // of today
		away              bool
	}{
		{"web", "m1", "web", "m1", false},
		{"former", "m1", "web", "m1", false},
		{"down", "m1", "web", "m1", false},
		{"web", "", "web", "m1", false},
		{"new", "m9", "new", "m9", true},
		{"old", "m2", "old", "m2", false},
		{"old", "", "old", "m2", false},
		{"down", "m8", "down", "", false},
		{"nowhere", "", "nowhere", "", false},
		{"made", "m8", "made", "m8", true},
		{"made", "m1", "web", "m1", false},
		{"made", "", "made", "", false},
		{"web", "m7", "web (formerly 10.0.0.7)", "m7", false},
	} {
		e := state.Entry{Settings: runner.Settings{Host: &runner.Host{Name: c.recorded, Machine: c.machine}}}
		got := hosts.Place(e)
		if at := got.Settings.Host; at.Name != c.name || at.Machine != c.is || (hosts.OutOfReach(got) != nil) != c.away {
			t.Errorf("%+v is on %+v, away: %q", c, at, hosts.OutOfReach(got).Words())
		}
		if e.Settings.Host.Name != c.recorded {
			t.Errorf("%+v was changed in place", c)
		}
	}
	if got := hosts.Place(state.Entry{}); got.Settings.Host != nil || hosts.OutOfReach(got) != nil {
		t.Error("what is here is on a host")
	}
}

// In what a thing differs is told without the values that are secrets.
func TestChanged_Sensitive(t *testing.T) {
	t.Parallel()
	list := []match.Difference{{What: "/id", Old: `"plum"`, New: `"pear"`}, {What: "/auth/user", Old: `"fig"`, New: `"kiwi"`},
		{What: "/authority", Old: "1", New: "2"}, {What: "host", Old: "a", New: "b"}}
	got := Changed(list, []string{"/id", "/auth"}, nil).Words()
	if want := "/id (sensitive) -> (sensitive), /auth/user (sensitive) -> (sensitive), /authority 1 -> 2, host a -> b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
