package artifacts

import (
	"testing"

	"deployster/config"
	"deployster/internal/runtime/artifact"
)

// A version that an earlier round has used is used again, whatever is newer: no check is run.
func TestResolver_KnownIsNotChecked(t *testing.T) {
	s := newScene(t, v2, line("main", "1", "2")...)
	s.o.Declared = []config.Artifact{s.block}
	was := Pin{Key: "was"}
	was.Recipe.Version = artifact.Version{"ref": "1"}
	s.o.Known = map[string]Pin{"site": was, "gone": was}
	r := New(s.o)
	pin, err := r.Resolve(t.Context(), "site")
	if err != nil || pin.Key != "was" || pin.Recipe.Version["ref"] != "1" {
		t.Errorf("%+v, %v", pin, err)
	}
	if pins := r.Pins(); len(pins) != 1 {
		t.Errorf("it has %v", pins)
	}
}
