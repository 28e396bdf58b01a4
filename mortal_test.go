//go:build linux && amd64

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/crash"
)

// death is an apply during which the command is ended: the values of the things
// before it and after it, by name.
type death struct {
	name          string
	before, after map[string]string
}

// mortal is where one death after the other is tried: a project of the real
// command, whose containerd lives on.
type mortal struct {
	t                         *testing.T
	root, work, data, runtime string // of the test, of the project, and of the containerd
	environ                   []string
}

func newMortal(t *testing.T) *mortal {
	t.Helper()
	a := &mortal{t: t}
	var err error
	if a.root, err = filepath.EvalSymlinks(t.TempDir()); err == nil {
		a.data, err = os.MkdirTemp("", "dk")
	}
	if err == nil {
		a.data, err = filepath.EvalSymlinks(a.data)
	}
	if err == nil {
		a.work = filepath.Join(a.root, "work")
		err = os.Mkdir(a.work, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.runtime = fmt.Sprintf("/run/deployster/%x", sha256.Sum256([]byte(a.data)))[:len("/run/deployster/")+12]
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	a.environ = append(os.Environ(), "HOME="+a.root, "DEPLOYSTER_DATA_DIR="+a.data, "DEPLOYSTER_IDLE_EXIT=2m", "DEPLOYSTER_KEEP=0s", "DEPLOYSTER_RUNC="+safeRunc(root))
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(a.data, "server.log"))
			t.Logf("the server's log:\n%s", log)
		}
		a.nothingLeft()
		if err := os.RemoveAll(a.data); err != nil {
			t.Errorf("something still uses the data directory: %v", err)
		}
		if left := waitGone(a.data); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})
	a.pack(root)
	return a
}

// pack makes the image of the things.
func (a *mortal) pack(root string) {
	a.t.Helper()
	dir := filepath.Join(a.root, "type")
	source, err := os.ReadFile(filepath.Join(root, "testdata/types/world/type.sh"))
	err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "type"), source, 0o755)
	}
	var shell []byte
	if err == nil {
		shell, err = os.ReadFile(busybox)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "bin/busybox"), shell, 0o755)
	}
	for _, applet := range []string{"sh", "cat", "sync", "sleep", "rm"} {
		err = errors.Join(err, os.Symlink("busybox", filepath.Join(dir, "bin", applet)))
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.must("image", "pack", "-t", "test/world:1", "-entrypoint", "/type", dir)
}

// prepare makes what there is before the death, and the plan that it will meet. It
// gives the calls of an apply of that plan which nothing disturbs.
func (a *mortal) prepare(d death) []crash.Call {
	a.t.Helper()
	if err := os.Mkdir(filepath.Join(a.work, "world"), 0o700); err != nil {
		a.t.Fatal(err)
	}
	a.manifest(d.before)
	a.must("apply", "-auto-approve")
	a.manifest(d.after)
	a.must("plan", "-out=p.plan")
	if err := os.CopyFS(filepath.Join(a.root, "start"), os.DirFS(a.work)); err != nil {
		a.t.Fatal(err)
	}
	o := a.run(a.everywhere(0), "apply", "-json", "p.plan")
	if o.Exit != 0 {
		a.t.Fatalf("without a death: %s", o.output)
	}
	if faults := a.settled(d, nil, []string{"apply", "-auto-approve"}); len(faults) > 0 {
		a.t.Fatalf("without a death: %v", faults)
	}
	return o.Calls
}

// everywhere is the point before a call to containerd, or on any of the files.
func (a *mortal) everywhere(at int) crash.Point {
	return crash.Point{At: at, Dir: a.work, Also: []string{a.data, a.runtime}, Sockets: true}
}

// manifest declares things with these values, each after the one before it.
func (a *mortal) manifest(values map[string]string) {
	a.t.Helper()
	var b strings.Builder
	b.WriteString("plug \"world\" {\n  path = \"world\"\n}\n")
	before := ""
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "resource %q {\n  type = \"test/world:1\"\n  config = { v = %q }\n%s}\n", name, values[name], before)
		before = fmt.Sprintf("  depends_on = [resource.%s]\n", name)
	}
	if err := os.WriteFile(filepath.Join(a.work, "main.hcl"), []byte(b.String()), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// reset puts the project back to how it is before the death. The actions of the
// plan have the same keys again, which is no harm once nobody is left who may
// still tell of one how it ended.
func (a *mortal) reset() {
	a.t.Helper()
	a.nothingLeft()
	err := errors.Join(os.RemoveAll(filepath.Join(a.data, "outcomes")), os.RemoveAll(a.work))
	if err == nil {
		err = os.CopyFS(a.work, os.DirFS(filepath.Join(a.root, "start")))
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// command is this program as the real one.
func (a *mortal) command(args ...string) *exec.Cmd {
	a.t.Helper()
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"deployster"}, args...), Env: a.environ, Dir: a.work}
}

func (a *mortal) must(args ...string) {
	a.t.Helper()
	if out, err := a.command(args...).CombinedOutput(); err != nil {
		a.t.Fatalf("deployster %v: %v: %s", args, err, out)
	}
}

// died is one run that was ended.
type died struct {
	crash.Result
	output string
}

// run runs the command, and ends it at a point.
func (a *mortal) run(at crash.Point, args ...string) died {
	a.t.Helper()
	out, err := os.Create(filepath.Join(a.root, "output"))
	if err != nil {
		a.t.Fatal(err)
	}
	defer out.Close()
	c := a.command(args...)
	result, err := crash.Run(crash.Program{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Output: out}, at)
	if err != nil {
		a.t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		a.t.Fatal(err)
	}
	return died{result, string(text)}
}
