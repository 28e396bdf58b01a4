package containerd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/containerd/server"
	"deployster/containerd/shim"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
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

// A shim of whose task a new server knows nothing is nobody's: a sweep ends it, and
// its program, when its client is dead, and not those of clients that live.
func TestShim_WithoutTaskEndsWithItsClient(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r, d := open(t, o), openDying(t, o)
	lost, kept := d.run(runner.Query, "echo; sleep 600"), dying{r, t, d.dgst}.run(runner.Action, "echo; sleep 6; exit 7")
	tasks := filepath.Join(o.server().State(), "io.containerd.runtime.v2.task", o.Namespace)
	var container string
	for id := range shimsOf(o) {
		if strings.HasPrefix(id, d.conn.ID) {
			container = id
		}
	}
	if container == "" {
		t.Fatal("the query has no shim")
	}
	if err := unix.Kill(serverPid(o), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// As if it had died before it wrote down what it had started.
	if err := unix.Unmount(filepath.Join(tasks, container, "rootfs"), unix.MNT_DETACH); err != nil {
		t.Error(err)
	}
	eventually(t, "the bundle is removed", func() bool { return os.RemoveAll(filepath.Join(tasks, container)) == nil }) // its shim may still write
	if e := <-lost; e.Err == nil {
		t.Errorf("the query of a lost task ended with code %d", e.Code)
	}
	d.die()
	_ = d.Close()
	eventually(t, "the sweep succeeds", func() bool { return r.sweeper().Sweep(context.Background(), true) == nil })
	eventually(t, "the lost shim ends", func() bool { return shimsOf(o)[container] == "" })
	if left := cgroupsLeft(d.conn.ID); len(left) > 0 {
		t.Errorf("its program is left in %s", left)
	}
	if e := <-kept; e.Err != nil || e.Code != 7 {
		t.Errorf("the action of a client that lives ended with code %d, %v", e.Code, e.Err)
	}
	if kinds := containerKinds(t, r); len(kinds) > 0 {
		t.Errorf("containers are left: %q", kinds)
	}
	eventually(t, "the sockets are removed", func() bool {
		list, _ := filepath.Glob(filepath.Join(o.server().Shims(), "*")) // the pattern is one
		return len(list) == 0
	})
}

// shimsOf lists the running shims of a server: their processes, by container.
func shimsOf(o Options) map[string]string {
	list := map[string]string{}
	files, _ := proc.Files("cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // it has ended
		args := strings.Split(string(line), "\x00")
		if i := slices.Index(args, "-id"); i > 0 && args[0] == filepath.Join(o.server().Bin(), shim.Name) {
			list[args[i+1]] = filepath.Dir(file)
		}
	}
	return list
}
