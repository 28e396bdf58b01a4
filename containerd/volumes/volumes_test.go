package volumes

import (
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/layout"
	"deployster/internal/runtime/runner"
)

func TestSweep_LeavesWhatIsInUse(t *testing.T) {
	root := t.TempDir()
	dead, alive := layout.NewID(), layout.NewID()
	for _, client := range []string{dead, alive} {
		v := New(root, client+"-1", runner.Spec{Volumes: []runner.Volume{{Target: "/v"}}, Answer: &runner.Answer{Target: "/r/a"}})
		if err := v.Make(os.Getuid(), os.Getgid()); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(root, func(client string) bool { return client == dead }); err != nil {
		t.Fatal(err)
	}
	if layout.Exists(Dir(root, dead+"-1")) || !layout.Exists(filepath.Join(Dir(root, alive+"-1"), "answer")) {
		t.Error("what is left is not what is in use")
	}
	if err := RemoveOf(root, alive+"-1"); err != nil || layout.Exists(filepath.Join(root, alive)) {
		t.Errorf("the last container of a client leaves its directory: %v", err)
	}
	if err := Sweep(filepath.Join(root, "none"), nil); err != nil {
		t.Errorf("where nothing ever was: %v", err)
	}
}
