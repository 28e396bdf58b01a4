package things

import (
	"testing"

	"deployster/internal/runner"
	"deployster/plan/match"
	"deployster/protocol"
	"deployster/state"
)

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
		declared := Declared("acme/file:1", protocol.Type{}, []byte("{}"), c.settings, nil)
		if declared.Host != c.host {
			t.Errorf("%s: on %q, want %q", name, declared.Host, c.host)
		}
		if relation, list := match.Compare(declared, recorded, true); (len(list) > 0) != c.differs || (relation == match.Differs) != c.differs {
			t.Errorf("%s: %v %+v", name, relation, list)
		}
	}
}
