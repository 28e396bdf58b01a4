package containerd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/containerd/server"
	"deployster/containerd/shim"
	"deployster/internal/runner"
)

// The containers of these tests run under the program that is only the shim:
// what its build makes has carried them all.
func TestShim_LightOneIsUsed(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(filepath.Join(filepath.Dir(self), server.ShimProgram))
	if err != nil {
		t.Fatal(err)
	}
	var running []string
	res, err := r.Run(context.Background(), runner.Spec{Name: "light", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", "echo begun; sleep 1; exit 7"},
		Stdout: writerFunc(func(p []byte) (int, error) {
			for container, process := range shimsOf(o) {
				have, err := os.Stat(filepath.Join(process, "exe"))
				if err == nil && (os.SameFile(have, want) || have.Size() == want.Size()) {
					running = append(running, container)
				}
			}
			return len(p), nil
		})})
	if err != nil || res.ExitCode != 7 || string(res.Stdout) != "begun\n" {
		t.Errorf("it ended with %+v, %v", res, err)
	}
	if len(running) != 1 || !strings.HasPrefix(running[0], r.conn.ID) {
		t.Errorf("while it ran there were light shims for %q", running)
	}
	nothingLeft(t, r)
}

// shimsOf lists the running shims of a server: their processes, by container.
func shimsOf(o Options) map[string]string {
	list := map[string]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // it has ended
		args := strings.Split(string(line), "\x00")
		if i := slices.Index(args, "-id"); i > 0 && args[0] == filepath.Join(o.server().Bin(), shim.Name) {
			list[args[i+1]] = filepath.Dir(file)
		}
	}
	return list
}
