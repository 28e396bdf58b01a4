package artifacts

import (
	"encoding/json"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state/actions"
)

// Who says that a put was done means one of the space into which is put: that of the block, or
// else that of what was put before.
func TestPublish_RecordedAsDoneIsOfItsSpace(t *testing.T) {
	t.Parallel()
	one := wished("one", "2")
	for _, c := range []struct{ block, last, want string }{
		{"", "", "main"}, // the image says which
		{"beta", "", "beta"},
		{"", "beta", "beta"},
		{"main", "beta", "main"},
	} {
		s := newScene(t, "acme/v2", false, begun("acme/v2", artifact.Artifacts2, one, nil, actions.Done, nil))
		s.world.Change(`{"password":"one"}`, func(l *artifacttest.Line) {
			l.Default, l.Spaces = "main", map[string][]artifact.Versioned{}
			for _, space := range []string{"main", "beta"} {
				l.Spaces[space] = []artifact.Versioned{{Space: space, Version: artifact.Version{"ref": space}}}
			}
		})
		a := s.declared["out"]
		a.Space = c.block
		s.declared["out"] = a
		in := protocol.StateInput{Config: one}
		if c.last != "" {
			in.LastConfig, in.LastState = one, json.RawMessage(`{"space":"`+c.last+`","version":{"ref":"1"},"metadata":{},"created":[],"deleted":[]}`)
		}
		answer, err := s.State(t.Context(), typeclient.Target{Address: address, Reference: "acme/v2"}, protocol.Type{}, in)
		if got := decided(t, answer, err); got != "VALID "+c.want {
			t.Errorf("block %q, last %q: %s", c.block, c.last, got)
		}
	}
}
