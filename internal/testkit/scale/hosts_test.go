package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan/order"
	"deployster/protocol"
)

// perHost is how many resources are on each host.
const perHost = 50

// fleet is a manifest with resources on hosts, which are far ends in this process.
type fleet struct {
	dir  string
	here runnertest.Runtime

	mu       sync.Mutex
	machines map[string]*farEnd // by address
	dials    int                // connections that were made
}

// newFleet declares n hosts.
func newFleet(tb testing.TB, n int) *fleet {
	tb.Helper()
	f := &fleet{dir: tb.TempDir(), here: runnertest.Runtime{Fake: runnertest.NewFake()}, machines: map[string]*farEnd{}}
	f.here.Add(image, inMemory(nil)) // it is asked here what it is
	main := fmt.Sprintf(`host "web" {
  count   = %d
  address = "h${count.index}"
}
resource "r" {
  count  = %d
  type   = %q
  host   = host.web[floor(count.index / %d)]
  config = { name = "disk-${count.index}" }
}
`, n, n*perHost, image, perHost)
	if err := os.WriteFile(filepath.Join(f.dir, "main.hcl"), []byte(main), 0o600); err != nil {
		tb.Fatal(err)
	}
	return f
}

// inMemory is an image whose things are named by their configs.
func inMemory(there *sync.Map) runnertest.Program {
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, `{"protocol":2,"identity":["/name"],"state_action":{"args":["state"]}}`)
			return 0
		}
		var in struct{ Config struct{ Name string } }
		if err := json.NewDecoder(stdin).Decode(&in); err != nil {
			return 1
		}
		_, is := there.Load(in.Config.Name)
		switch {
		case s.Args[0] == "make":
			there.Store(in.Config.Name, true)
		case is:
			_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		default:
			_, _ = io.WriteString(stdout, `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)
		}
		return 0
	}
}

// farEnd is a host in memory.
type farEnd struct {
	runnertest.Runtime
	machine string
}

func (e *farEnd) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	return remote.Welcome{Boot: "b", Facts: protocol.HostFacts{Machine: e.machine}, Clock: time.Now()}, nil
}
func (*farEnd) Acts(context.Context, remote.Hello) error { return nil }
func (*farEnd) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	return make([]remote.Seen, len(plugs))
}
func (*farEnd) Receive(context.Context, imagestore.Shipment, imagestore.Contents) error { return nil }
func (*farEnd) Claim(context.Context, claims.Request) ([]claims.Record, error)          { return nil, nil }

func (*farEnd) Bring(context.Context, remote.Files, io.Reader) error { return nil }

// dial reaches a host.
func (f *fleet) dial(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error) {
	f.mu.Lock()
	f.dials++
	m := f.machines[h.Address]
	if m == nil {
		fake := runnertest.NewFake()
		fake.Add(image, inMemory(&sync.Map{}))
		m = &farEnd{runnertest.Runtime{Fake: fake}, h.Address}
		f.machines[h.Address] = m
	}
	f.mu.Unlock()
	here, there := net.Pipe()
	go func() { _ = remote.Serve(context.Background(), there, m, remote.DefaultTiming()) }() // it ends with its client
	return remote.NewClient(ctx, here, as, remote.DefaultTiming())
}

// do lets an engine work.
func (f *fleet) do(tb testing.TB, work func(*app.Engine) error) {
	tb.Helper()
	e := app.New(app.Options{Workspace: workspace.Options{Dir: f.dir, Home: f.dir, Version: "1.0.0"}, Dial: f.dial,
		Open: func(context.Context) (app.Runtime, error) { return f.here, nil }})
	defer e.Close()
	if err := work(e); err != nil {
		tb.Fatalf("%.2000s", err)
	}
}

func (f *fleet) plan(tb testing.TB) {
	tb.Helper()
	f.do(tb, func(e *app.Engine) error {
		p, err := e.Plan(tb.Context(), app.PlanOptions{Out: filepath.Join(f.dir, "saved.plan")})
		if err == nil && p.HasChanges() {
			err = fmt.Errorf("changes: %+v", p.Summary)
		}
		return err
	})
}

func (f *fleet) apply(tb testing.TB) {
	tb.Helper()
	f.do(tb, func(e *app.Engine) error {
		_, err := e.Apply(tb.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
		return err
	})
}

// What a resource costs does not grow with the number of hosts.
func TestHosts_CostIsLinear(t *testing.T) {
	costs := map[int]cost{}
	for _, hosts := range []int{2, 10, 80} { // what is made once is made by the first
		f := newFleet(t, hosts)
		f.apply(t)
		costs[hosts] = counted(hosts*perHost, func() { f.plan(t) })
		t.Logf("%d hosts: %.0f objects, %.0f bytes a resource", hosts, costs[hosts].objects, costs[hosts].bytes)
	}
	if few, many := costs[10], costs[80]; many.objects > grows*few.objects || many.bytes > grows*few.bytes {
		t.Errorf("a resource on one of 80 hosts costs %.2f times the objects and %.2f times the bytes of one on 10", many.objects/few.objects,
			many.bytes/few.bytes)
	}
}

// A command connects once to each host, also where there are more than it works on at one
// time: to reach one costs more than to ask it.
func TestHosts_AreReachedOnce(t *testing.T) {
	const hosts = order.Hosts + 16
	f := newFleet(t, hosts)
	for _, command := range []func(testing.TB){f.apply, f.plan} {
		f.dials = 0
		if command(t); f.dials != hosts {
			t.Errorf("%d connections were made to %d hosts", f.dials, hosts)
		}
	}
}

// BenchmarkPlanHosts plans 50 resources on each of so many hosts.
func BenchmarkPlanHosts(b *testing.B) {
	for _, hosts := range sizes(100, 1000) {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			f := newFleet(b, hosts)
			f.apply(b)
			for b.Loop() {
				f.plan(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(hosts*perHost), "ns/resource")
		})
	}
}
