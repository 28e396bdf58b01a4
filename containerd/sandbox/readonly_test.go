package sandbox

import (
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// The label of an image counts unless the type block says otherwise.
func TestReadOnly_BlockBeforeLabel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		label    string
		settings runner.Settings
		want     bool
	}{
		{"", runner.Settings{}, false},
		{"", runner.Settings{ReadOnlyRootFS: true}, true},
		{"true", runner.Settings{}, true},
		{"true", runner.Settings{WritableRootFS: true}, false},
		{"false", runner.Settings{}, false},
	} {
		p := Program{Config: ocispec.ImageConfig{Labels: map[string]string{imagestore.LabelReadOnly: c.label}}}
		if got := readOnly(p, c.settings); got != c.want {
			t.Errorf("label %q, %+v: %t", c.label, c.settings, got)
		}
	}
}
