package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// program is one of the programs that are published.
type program struct{ name, dir, path string }

var programs = []program{
	{"deployster", ".", "."},
	{"deployster-shim", ".", "./containerd/shim/deployster-shim"},
	{"deployster-agent", ".", "./containerd/agent/deployster-agent"},
	{"deployster-host", ".", "./internal/onhost/deployster-host"},
	{"deployster-terraform", "bridge", "."},
	{"deployster-kube", "kube", "."},
	{"deployster-lsp", "lsp", "."},
}

// images are the programs of the images that come with deployster.
var images = []program{{"machine", ".", "./machine"}, {"notify", ".", "./notify"}, {"pod", ".", "./internal/runtime/pod/deployster-pod"}}

// types are those of the images whose answers to init come with them.
var types = []string{"machine", "notify"}

// sent are the programs that hosts are given, which are compressed for that; installed is deployster-host in that form alone.
var sent = []string{"deployster-host", "deployster-shim", "runc"}

func (r *release) binary(arch, name string) string { return filepath.Join(r.work, "bin", arch, name) }

// onDarwin are the programs that darwin gets: what runs nothing on its own machine.
var onDarwin = []string{"deployster", "deployster-lsp"}

// client returns the path of a program for darwin.
func (r *release) client(arch, name string) string { return r.binary("darwin-"+arch, name) }

// build builds all programs for an architecture.
func (r *release) build(arch string) error {
	for _, p := range slices.Concat(programs, images) {
		if err := r.compile(p, "linux", arch, r.binary(arch, p.name)); err != nil {
			return err
		}
	}
	for _, p := range programs {
		if !slices.Contains(onDarwin, p.name) {
			continue
		}
		if err := r.compile(p, "darwin", arch, r.client(arch, p.name)); err != nil {
			return err
		}
	}
	c := exec.Command("sh", "runc.sh", arch, r.binary(arch, "runc"), filepath.Join(r.debian, "runc"))
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("building runc for %s: %w", arch, err)
	}
	args := []string{"run", "./internal/base/packed/deployster-pack", "-best"}
	for _, name := range sent {
		args = append(args, r.binary(arch, name))
	}
	_, err := r.output(r.root, "go", args...)
	return err
}

// compile builds one program.
func (r *release) compile(p program, system, arch, file string) error {
	const variables = "deployster/internal/base/version."
	flags := fmt.Sprintf("-s -w -buildid= -X %[1]sVersion=%[2]s -X %[1]sCommit=%[3]s -X %[1]sDate=%[4]s", variables, r.version, r.commit,
		r.date.Format(time.RFC3339))
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, p.path)
	c.Dir, c.Stdout, c.Stderr = filepath.Join(r.root, p.dir), os.Stderr, os.Stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0")
	if err := c.Run(); err != nil {
		return fmt.Errorf("building %s for %s on %s: %w", p.name, system, arch, err)
	}
	return nil
}
