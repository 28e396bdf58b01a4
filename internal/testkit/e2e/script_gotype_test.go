package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// goType builds a type in Go of testdata/types, once for all scripts.
type goType struct {
	name string

	once   sync.Once
	binary []byte
	err    error
}

func (p *goType) build(root string) ([]byte, error) {
	p.once.Do(func() {
		dir, err := os.MkdirTemp("", p.name)
		if err != nil {
			p.err = err
			return
		}
		defer os.RemoveAll(dir)
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "type"), "./testdata/types/"+p.name)
		cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		if p.err = cmd.Run(); p.err == nil {
			p.binary, p.err = os.ReadFile(filepath.Join(dir, "type"))
		}
	})
	return p.binary, p.err
}

// pack packs the type, alone, as an image.
func (p *goType) pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: %s NAME", p.name)
	}
	binary, err := p.build(ts.Getenv("ROOT"))
	ts.Check(err)
	dir := ts.MkAbs("." + p.name)
	ts.Check(os.MkdirAll(filepath.Join(dir, "etc"), 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "type"), binary, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "etc/passwd"), []byte("root:x:0:0::/:/\napp:x:1000:1001::/:/\n"), 0o644))
	ts.Check(ts.Exec("deployster", "image", "pack", "-t", args[0], "-entrypoint", "/type", dir))
}
