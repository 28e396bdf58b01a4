package volumes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

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

// The end of one container removes the directory of its client when that is empty, while another container begins.
func TestMake_WhileOthersEnd(t *testing.T) {
	root, client := t.TempDir(), layout.NewID()
	var group errgroup.Group
	for i := range 8 {
		group.Go(func() error {
			for n := range 300 {
				v := New(root, fmt.Sprintf("%s-%d", client, i*1000+n), runner.Spec{Answer: &runner.Answer{Target: "/r/a"}})
				if err := errors.Join(v.Make(os.Getuid(), os.Getgid()), v.Remove()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
