//go:build kube

package kubenode_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/cluster"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// clusterRunner is a runner.Runner whose containers are Pods: deployster's end, with deployster-kube as its child.
type clusterRunner struct {
	*router.Places
	p    *project
	host runner.Host

	mu      sync.Mutex
	volumes map[string]bool
}

// probeImages has the image of the probe, which is in the registry.
type probeImages struct{ *runnertest.Fake }

func (i probeImages) Shipment(ctx context.Context, digest, _ string) (runner.Shipment, error) {
	if _, err := i.Resolve(ctx, digest); err != nil {
		return runner.Shipment{}, err
	}
	return runner.Shipment{Name: node.Registry + "/" + runnertest.ProbeReference, Digest: digest, Platforms: []string{"linux/" + runtime.GOARCH},
		Entrypoint: runnertest.ProbeEntrypoint(), Cmd: runnertest.ProbeCmd()}, nil
}
func (i probeImages) Named(ctx context.Context, digest string) (runner.Shipment, error) {
	return i.Shipment(ctx, digest, "")
}
func (probeImages) ReadContent(context.Context, string, int64, int) ([]byte, error) {
	return nil, io.EOF
}

func TestCluster_KeepsTheContractOfRunners(t *testing.T) {
	onNode(t)
	runnertest.RunnerSuite(t, newProject(t).runner(t))
}

// runner is a runner whose images run in the project's namespace.
func (p *project) runner(t *testing.T) *clusterRunner {
	t.Helper()
	digest, err := node.Push("invoketest/probe", "1", map[string]string{"probe": runnertest.ProbeScript, "other": runnertest.ProbeScript},
		append(runnertest.ProbeEntrypoint(), runnertest.ProbeCmd()...)...)
	if err != nil {
		t.Fatal(err)
	}
	images := probeImages{runnertest.NewFake()}
	images.AddDigest(runnertest.ProbeReference, digest, runnertest.Probe)
	block := runner.Cluster{Namespace: p.namespace, Agent: p.agent, Kubeconfig: filepath.Join(p.dir, "kubeconfig"), StartTimeout: 15}
	r := &clusterRunner{p: p, host: runner.Host{Name: "jobs", Address: block.Address(), Kubernetes: &block}, volumes: map[string]bool{}}
	r.Places = router.New(router.Options{Local: runnertest.Runtime{Fake: images.Fake}, Images: images,
		Dial: func(ctx context.Context, _ runner.Host) (*remote.Client, error) {
			return cluster.Dial(ctx, block, remote.Hello{Build: "0.1.0", Lineage: "lineage", Epoch: 1, Run: "run", Process: "test"},
				cluster.Options{Find: program, Timing: remote.DefaultTiming()})
		}})
	t.Cleanup(r.Close)
	return r
}

// Run implements runner.Runner in the cluster. Paths of this machine become claims.
func (r *clusterRunner) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Settings.Host = &r.host
	mounts := s.Mounts
	s.Mounts = nil
	if s.Settings.Workdir != "" { // the directory exists where the test is
		mounts = append(mounts, runner.Mount{Source: s.Settings.Workdir, Target: s.Settings.Workdir})
		s.Cwd, s.Settings.Workdir = s.Settings.Workdir, ""
	}
	for _, m := range mounts {
		m.Source = r.claim(m.Source)
		s.Mounts = append(s.Mounts, m)
	}
	return r.Places.Run(ctx, s)
}

// claim makes a claim for a path of this machine, and returns its path as a plug.
func (r *clusterRunner) claim(path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := fmt.Sprintf("c%x", sha256.Sum256([]byte(path)))[:16]
	if !r.volumes[name] {
		r.volumes[name] = true
		kind := "Directory"
		if found, err := os.Stat(path); err == nil && !found.IsDir() {
			kind = "File"
		}
		r.p.apply(fmt.Sprintf(claimTemplate, name, r.p.namespace, path, kind))
	}
	return "/pvc/" + name
}

// Files of an artifact are in a Pod with the modes that they have here, and its program only reads them.
func TestFiles_AreInAPod(t *testing.T) {
	p := newProject(t)
	r := p.runner(t)
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"page.html": 0o644, "run.sh": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho hello\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := tree.Measure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	image, err := r.Resolve(t.Context(), runnertest.ProbeReference)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"", "1000:1000"} {
		s := runner.Spec{Name: "main/state", Kind: runner.Query, Digest: image.Digest, Entrypoint: "/bin/sh", Timeout: time.Minute,
			Args: []string{"-c", "/in/run.sh && cat /page && ! touch /in/new 2>/dev/null && id -u"}}
		s.Settings.User, s.Settings.Host = user, &r.host
		s.Settings.Capabilities.Drop = []string{runner.AllCapabilities}
		for target, sub := range map[string]string{"/in": "", "/page": "page.html"} {
			s.Mounts = append(s.Mounts, runner.Mount{Source: artifact.MountSource("key", sub), Target: target,
				Files: &runner.Files{Dir: dir, Key: "key", Name: "site", Tree: sum.Hash}})
		}
		res, err := r.Places.Run(t.Context(), s)
		want := "hello\n#!/bin/sh\necho hello\n" + cmp.Or(strings.Split(user, ":")[0], "0") + "\n"
		if err != nil || res.ExitCode != 0 || string(res.Stdout) != want {
			t.Errorf("as %q: %+v, %v: %s", user, res, err, res.Stdout)
		}
	}
}
