package plan

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/drift"
	"deployster/protocol"
	"deployster/state"
)

// meeting lets those who are asked wait until all are there that are expected.
type meeting struct {
	once sync.Once
	all  chan struct{}
}

func newMeeting() *meeting { return &meeting{all: make(chan struct{})} }

// wait returns when somebody was the last to come, or when a while has passed: then the
// numbers will tell.
func (m *meeting) wait(last bool) {
	if last {
		m.once.Do(func() { close(m.all) })
	}
	select {
	case <-m.all:
	case <-time.After(time.Minute):
	}
}

// crowd is a Prober whose images answer when as many were asked as may be at one
// time, of those with a worker and of the others.
type crowd struct {
	asked
	expected map[bool]int // with a worker -> how many at one time

	mu   sync.Mutex
	told int // how many were asked
	open map[bool]int
	most map[bool]int
	all  *meeting
}

func hasWorker(t typeclient.Target) bool { return strings.HasPrefix(t.Address, "warm") }

func (c *crowd) Init(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	ty, err := c.asked.Init(ctx, t)
	if hasWorker(t) {
		ty.Worker = &protocol.Command{Args: []string{"worker"}}
	}
	return ty, err
}

func (c *crowd) State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	kind := hasWorker(t)
	c.mu.Lock()
	c.told++
	c.open[kind]++
	c.most[kind] = max(c.most[kind], c.open[kind])
	last := c.open[false] == c.expected[false] && c.open[true] == c.expected[true]
	c.mu.Unlock()
	c.all.wait(last)
	c.mu.Lock()
	c.open[kind]--
	c.mu.Unlock()
	return c.asked.State(ctx, t, ty, in)
}

// Of resources with a worker more are asked at one time than of others, and
// neither keeps the others waiting; in a plan and when looking for drift.
func TestBuild_QueriesManyInWorkers(t *testing.T) {
	t.Parallel()
	manifest := "resource \"cold\" {\n  count = 9\n  type = \"acme/cold\"\n}\nresource \"warm\" {\n  count = 9\n  type = \"acme/warm\"\n}\n"
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(manifest)}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	recorded := state.Snapshot{Resources: map[string]state.Entry{}}
	for _, r := range m.Resources() {
		recorded.Resources[r.Address] = state.Entry{Type: r.TypeRef, Digest: "sha256:1", Config: []byte(`{}`), State: []byte(`{}`)}
	}
	for _, o := range []struct {
		options    Options
		cold, warm int
	}{
		{Options{Parallelism: 2, InWorkers: 6}, 2, 6},
		{Options{Parallelism: 2}, 2, 0}, // the first two by name are cold
	} {
		for name, ask := range map[string]func(Prober) int{
			"plan":  func(p Prober) int { _, diags := Build(t.Context(), m, recorded, p, o.options); return len(diags) },
			"drift": func(p Prober) int { _, diags := drift.Find(t.Context(), m, recorded, p, o.options); return len(diags) },
		} {
			c := &crowd{expected: map[bool]int{false: o.cold, true: o.warm}, open: map[bool]int{}, most: map[bool]int{}, all: newMeeting()}
			if failed := ask(c); failed > 0 {
				t.Errorf("%s: %d failed", name, failed)
			}
			select {
			case <-c.all.all:
			default:
				t.Errorf("%s with %+v: never as many at one time as may be", name, o.options)
			}
			if c.told != len(m.Resources()) {
				t.Errorf("%s with %+v: %d were asked", name, o.options, c.told)
			}
			if c.most[false] > o.cold || c.most[true] > max(o.cold, o.warm) {
				t.Errorf("%s with %+v: %v at one time", name, o.options, c.most)
			}
		}
	}
}

// broken is a Prober with a fault of its own.
type broken struct{ asked }

func (*broken) State(context.Context, typeclient.Target, protocol.Type, protocol.StateInput) (protocol.Answer, error) {
	panic("broken")
}

// A fault of this program while resources are asked in parallel is the caller's,
// who can say what it was.
func TestBuild_FaultWhileQueryingIsTheCallers(t *testing.T) {
	t.Parallel()
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte("resource \"r\" {\n  count = 3\n  type = \"acme/cold\"\n}\n")}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	defer func() {
		if p := recover(); p != "broken" {
			t.Errorf("the caller was told %v", p)
		}
	}()
	Build(t.Context(), m, state.Snapshot{}, &broken{}, Options{Parallelism: 2})
}

// hostCrowd is a Prober whose images answer when so many hosts are asked as may be at
// one time, or when a while has passed.
type hostCrowd struct {
	asked
	expected int

	mu   sync.Mutex
	open map[string]int // by host
	most int
	all  *meeting
}

func (c *hostCrowd) State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	host := t.Settings.Host.Name
	c.mu.Lock()
	c.open[host]++
	c.most = max(c.most, len(c.open))
	last := len(c.open) == c.expected
	c.mu.Unlock()
	c.all.wait(last)
	c.mu.Lock()
	if c.open[host]--; c.open[host] == 0 {
		delete(c.open, host)
	}
	c.mu.Unlock()
	return c.asked.State(ctx, t, ty, in)
}

// So many hosts are asked at one time as the options say.
func TestBuild_LimitsHostsAtATime(t *testing.T) {
	t.Parallel()
	manifest := `host "web" {
  for_each = toset(["a", "b", "c", "d", "e"])
  address  = each.value
}
resource "r" {
  for_each = { for pair in setproduct(["a", "b", "c", "d", "e"], ["1", "2"]) : "${pair[0]}-${pair[1]}" => pair[0] }
  type     = "acme/cold"
  host     = host.web[each.value]
}
`
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(manifest)}}}, nil,
		config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	for atOnce, expected := range map[int]int{1: 1, 2: 2, 0: 5} {
		c := &hostCrowd{expected: expected, open: map[string]int{}, all: newMeeting()}
		if _, diags := Build(t.Context(), m, state.Snapshot{}, c, Options{Parallelism: 4, HostsAtOnce: atOnce}); len(diags) > 0 {
			t.Fatal(diags)
		}
		if c.most != expected {
			t.Errorf("%d: %d hosts were asked at one time", atOnce, c.most)
		}
	}
}
