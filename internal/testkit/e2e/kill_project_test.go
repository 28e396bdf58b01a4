//go:build linux && amd64

package e2e

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

// scenario is an apply during which the command is killed: the values of the
// things before it and after it, by name.
type scenario struct {
	name          string
	before, after map[string]string
}

// project is a directory in which the real command is killed again and again. Its
// containerd goes on.
type project struct {
	t                         *testing.T
	root, work, data, runtime string // of the test, of the project, and of the containerd
	environ                   []string

	hosts   string                   // the data directory of the host that things are on; "" = they are here
	declare string                   // what the manifest has beside its resources
	on      func(name string) string // what a thing has beside its values
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, declare: "plug \"world\" {\n  path = \"world\"\n}\n", on: func(string) string { return "" }}
	var err error
	if p.root, err = filepath.EvalSymlinks(t.TempDir()); err == nil {
		p.data, err = os.MkdirTemp("", "dk")
	}
	if err == nil {
		p.data, err = filepath.EvalSymlinks(p.data)
	}
	if err == nil {
		p.work = filepath.Join(p.root, "work")
		err = os.Mkdir(p.work, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.runtime = runtimeOf(p.data)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	p.environ = append(os.Environ(), "HOME="+p.root, "DEPLOYSTER_DATA_DIR="+p.data, "DEPLOYSTER_IDLE_EXIT=2m", "DEPLOYSTER_KEEP=0s",
		"DEPLOYSTER_RUNC="+safeRunc(root))
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(p.data, "server.log"))
			t.Logf("the server's log:\n%s", log)
		}
		p.nothingLeft()
		if err := os.RemoveAll(p.data); err != nil {
			t.Errorf("something still uses the data directory: %v", err)
		}
		if left := waitGone(p.data); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})
	p.pack(root)
	return p
}

// runtimeOf is the directory of a data directory in which its containerd runs.
func runtimeOf(data string) string {
	return fmt.Sprintf("/run/deployster/%x", sha256.Sum256([]byte(data)))[:len("/run/deployster/")+12]
}

// pack makes the image of the things.
func (p *project) pack(root string) {
	p.t.Helper()
	dir := filepath.Join(p.root, "type")
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
		p.t.Fatal(err)
	}
	p.must("image", "pack", "-t", "test/world:1", "-entrypoint", "/type", dir)
}

// start makes what there is before, and the plan that is applied then; a copy of both
// is what each try begins with.
func (p *project) start(d scenario) {
	p.t.Helper()
	if err := os.Mkdir(filepath.Join(p.work, "world"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.manifest(d.before)
	p.must("apply", "-auto-approve")
	p.manifest(d.after)
	p.must("plan", "-out=p.plan")
	if err := os.CopyFS(filepath.Join(p.root, "start"), os.DirFS(p.work)); err != nil {
		p.t.Fatal(err)
	}
}

// prepare makes what there is before the kill, and the plan that is applied then.
// It returns the calls of an apply of that plan which nothing disturbs.
func (p *project) prepare(d scenario) []crash.Call {
	p.t.Helper()
	p.start(d)
	o := p.run(p.everywhere(0), "apply", "-json", "p.plan")
	if o.Exit != 0 {
		p.t.Fatalf("without a kill: %s", o.output)
	}
	if faults := p.checkNext(d, nil, []string{"apply", "-auto-approve"}); len(faults) > 0 {
		p.t.Fatalf("without a kill: %v", faults)
	}
	return o.Calls
}

// everywhere is the point before a call to containerd, or on any of the files.
func (p *project) everywhere(at int) crash.Point {
	return crash.Point{At: at, Dir: p.work, Also: []string{p.data, p.runtime}, Sockets: true}
}

// manifest declares things with these values, each after the one before it.
func (p *project) manifest(values map[string]string) {
	p.t.Helper()
	var b strings.Builder
	b.WriteString(p.declare)
	before := ""
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "resource %q {\n  type = \"test/world:1\"\n  config = { v = %q }\n%s%s}\n", name, values[name], p.on(name), before)
		before = fmt.Sprintf("  depends_on = [resource.%s]\n", name)
	}
	if err := os.WriteFile(filepath.Join(p.work, "main.hcl"), []byte(b.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// reset puts the project back to how it is before the kill. The actions of the
// plan have the same keys again, which is no harm once nobody is left who may
// still tell of one how it ended.
func (p *project) reset() {
	p.t.Helper()
	p.nothingLeft()
	err := errors.Join(os.RemoveAll(filepath.Join(p.data, "outcomes")), os.RemoveAll(p.work))
	if p.hosts != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Join(p.hosts, "outcomes")), os.RemoveAll(filepath.Join(p.hosts, "fence")))
	}
	if err == nil {
		err = os.CopyFS(p.work, os.DirFS(filepath.Join(p.root, "start")))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// command is this program as the real one.
func (p *project) command(args ...string) *exec.Cmd {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"deployster"}, args...), Env: p.environ, Dir: p.work}
}

func (p *project) must(args ...string) {
	p.t.Helper()
	if out, err := p.command(args...).CombinedOutput(); err != nil {
		p.t.Fatalf("deployster %v: %v: %s", args, err, out)
	}
}

// outcome is one run of the command, which may have been killed.
type outcome struct {
	crash.Result
	output string
}

// run runs the command, and ends it at a point.
func (p *project) run(at crash.Point, args ...string) outcome {
	p.t.Helper()
	out, err := os.Create(filepath.Join(p.root, "output"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer out.Close()
	c := p.command(args...)
	result, err := crash.Run(crash.Program{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Output: out}, at)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		p.t.Fatal(err)
	}
	return outcome{result, string(text)}
}
