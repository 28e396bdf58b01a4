package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// prober builds the probe of testdata/types/probe, once for all scripts.
type prober struct {
	once   sync.Once
	binary []byte
	err    error
}

func (p *prober) build(root string) ([]byte, error) {
	p.once.Do(func() {
		dir, err := os.MkdirTemp("", "probe")
		if err != nil {
			p.err = err
			return
		}
		defer os.RemoveAll(dir)
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "type"), "./testdata/types/probe")
		cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		if p.err = cmd.Run(); p.err == nil {
			p.binary, p.err = os.ReadFile(filepath.Join(dir, "type"))
		}
	})
	return p.binary, p.err
}

// pack packs the probe, alone, as an image.
func (p *prober) pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: probe NAME")
	}
	binary, err := p.build(ts.Getenv("ROOT"))
	ts.Check(err)
	dir := ts.MkAbs(".probe")
	ts.Check(os.MkdirAll(filepath.Join(dir, "etc"), 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "type"), binary, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "etc/passwd"), []byte("root:x:0:0::/:/\napp:x:1000:1001::/:/\n"), 0o644))
	ts.Check(ts.Exec("deployster", "image", "pack", "-t", args[0], "-entrypoint", "/type", dir))
}
