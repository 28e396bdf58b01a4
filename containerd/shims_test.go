package containerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/invoke"
)

// The containers of these tests run under the program that is only the shim:
// what its build makes has carried them all.
func TestContainersRunUnderTheLightShim(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(filepath.Join(filepath.Dir(self), lightName))
	if err != nil {
		t.Fatal(err)
	}
	var running []string
	res, err := r.Run(context.Background(), invoke.Spec{Name: "light", Kind: invoke.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", "echo begun; sleep 1; exit 7"},
		Stdout: writerFunc(func(p []byte) (int, error) {
			for _, s := range shims(o.server()) {
				have, err := os.Stat(filepath.Join("/proc", fmt.Sprint(s.pid), "exe"))
				if err == nil && (os.SameFile(have, want) || have.Size() == want.Size()) {
					running = append(running, s.container)
				}
			}
			return len(p), nil
		})})
	if err != nil || res.ExitCode != 7 || string(res.Stdout) != "begun\n" {
		t.Errorf("it ended with %+v, %v", res, err)
	}
	if len(running) != 1 || !strings.HasPrefix(running[0], r.id) {
		t.Errorf("while it ran there were light shims for %q", running)
	}
	nothingLeft(t, r)
}
