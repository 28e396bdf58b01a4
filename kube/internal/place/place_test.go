package place

import (
	"context"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/memagent"
	"deployster/kube/internal/pods"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // servers end before those who use them
	code := m.Run()
	if podDir != "" {
		_ = os.RemoveAll(podDir) // only tests use it
	}
	os.Exit(code)
}

// cluster is a fake cluster whose nodes have the image of the probe.
type cluster struct {
	*fakeapi.Server
	fake  *runnertest.Fake
	block runner.Cluster
	agent func(*memagent.Agent) // changes each new agent
	paths map[string]string     // sources of mounts
	usual time.Duration         // Timing.Usual
	note  func(string)          // Options.Note
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{fake: runnertest.NewFake(), paths: map[string]string{}, usual: timing().Usual,
		block: runner.Cluster{Namespace: fakeapi.Namespace, Agent: "registry.example/deployster-pod@sha256:" + strings.Repeat("a", 64)}}
	c.fake.Add(runnertest.ProbeReference, runnertest.Probe)
	c.Server = fakeapi.New(func(r *fakeapi.Running) { r.Start(c.newAgent()) })
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) newAgent() *memagent.Agent {
	a := memagent.New(c.fake)
	a.Path = func(source string) string { return c.paths[source] }
	if c.agent != nil {
		c.agent(a)
	}
	return a
}

// timing is that of tests.
func timing() Timing {
	return Timing{Pods: pods.Timing{Watch: 5 * time.Second, Read: time.Second, Pause: 10 * time.Millisecond}, Agent: memagent.Timing,
		Patience: 3 * time.Second, Report: 5 * time.Millisecond, Usual: 50 * time.Millisecond, Quota: 20 * time.Millisecond}
}

// place returns a Place of the cluster.
func (c *cluster) place(t *testing.T) *Place {
	t.Helper()
	client, err := api.New(c.Config(), fakeapi.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	client.Patience = 3 * time.Second
	times := timing()
	times.Usual = c.usual
	p := New(Options{Cluster: c.block, Host: `jobs["eu"]`, API: client, Build: "test", Timing: times, Note: c.note})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// serve returns a connection to a Place, as deployster has one over the stdin and stdout of deployster-kube.
func serve(t *testing.T, p *Place, h remote.Hello) (*remote.Client, error) {
	t.Helper()
	return serveUntil(p.ctx, t, p, h)
}

// serveUntil is serve until a context ends.
func serveUntil(ctx context.Context, t *testing.T, p *Place, h remote.Hello) (*remote.Client, error) {
	t.Helper()
	here, there := net.Pipe()
	go func() { _ = remote.Serve(ctx, there, p, memagent.Timing) }() // it ends with the client
	h.Build = "test"
	client, err := remote.NewClient(t.Context(), here, h, memagent.Timing)
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

// local has the images of the client.
type local struct{ *runnertest.Fake }

func (local) Shipment(_ context.Context, digest, _ string) (runner.Shipment, error) {
	return runner.Shipment{Name: "registry.example/acme/probe:1", Digest: digest, Platforms: []string{"linux/amd64"}}, nil
}
func (l local) Named(ctx context.Context, digest string) (runner.Shipment, error) {
	return l.Shipment(ctx, digest, "")
}
func (local) ReadContent(context.Context, string, int64, int) ([]byte, error) { return nil, io.EOF }

// client is deployster itself: a router with the cluster as its only host.
type client struct {
	*router.Places
	c    *cluster
	host runner.Host
}

// client returns a client of the cluster, whose Places are made as they are dialled.
func (c *cluster) client(t *testing.T, h remote.Hello) *client {
	t.Helper()
	block := c.block
	cl := &client{c: c, host: runner.Host{Name: "jobs", Address: "prod/jobs", Kubernetes: &block}}
	cl.Places = routerTo(t, c, func() (*remote.Client, error) { return serve(t, c.place(t), h) })
	return cl
}

// routerTo returns a router that dials so.
func routerTo(t *testing.T, c *cluster, dial func() (*remote.Client, error)) *router.Places {
	t.Helper()
	places := router.New(router.Options{Local: runnertest.Runtime{Fake: c.fake}, Images: local{c.fake}, Patience: 2 * time.Second,
		Dial: func(context.Context, runner.Host) (*remote.Client, error) { return dial() }})
	t.Cleanup(places.Close)
	return places
}

// Run implements runner.Runner on the cluster. Paths of this machine become claims.
func (c *client) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	return c.Places.Run(ctx, c.at(s))
}

// Launch implements runner.Launcher on the cluster.
func (c *client) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	return c.Places.Launch(ctx, c.at(s))
}

func (c *client) at(s runner.Spec) runner.Spec {
	s.Settings.Host = &c.host
	if s.Settings.Workdir != "" {
		s.Cwd, s.Settings.Workdir = s.Settings.Workdir, ""
	}
	mounts := s.Mounts
	s.Mounts = nil
	for _, m := range mounts {
		if strings.HasPrefix(m.Source, "/pvc/") {
			s.Mounts = append(s.Mounts, m)
			continue
		}
		name := "/pvc/" + hash(m.Source)
		c.c.Server.Set(func(*fakeapi.Behaviour) { c.c.paths[name] = m.Source })
		m.Source = name
		s.Mounts = append(s.Mounts, m)
	}
	return s
}

// acts is the greeting of a client that acts.
func acts(epoch int64) remote.Hello {
	return remote.Hello{Lineage: "lineage", Epoch: epoch, Run: "run", Process: "deployster apply"}
}

func TestPlace_KeepsTheContractOfRunners(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	runnertest.Suite(t, c.client(t, acts(1)))
}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}
