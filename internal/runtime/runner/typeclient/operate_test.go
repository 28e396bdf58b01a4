package typeclient

import (
	"strings"
	"testing"

	"deployster/protocol"
)

// An action that the answer to init does not list is a fault of the image; without a list all names are allowed.
func TestState_RefusesUndeclaredActions(t *testing.T) {
	t.Parallel()
	stale := protocol.Answer{Status: protocol.Stale, Actions: []protocol.Action{{Name: "create"}, {Name: "explode"}}}
	first := protocol.Answer{Status: protocol.Stale, ShutdownFirst: &protocol.Action{Name: "halt"}, Actions: []protocol.Action{{Name: "create"}}}
	for _, c := range []struct {
		answer protocol.Answer
		listed []string
		want   string
	}{{stale, []string{"create"}, `"explode"`}, {first, []string{"create"}, `"halt"`}, {stale, []string{"create", "explode"}, ""}, {stale, nil, ""}} {
		err := undeclared(protocol.Type{Actions: c.listed}, c.answer)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.listed, err)
		}
	}
}
