package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/resolving"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
)

// hostMachine is a host in memory, with a world of its own.
type hostMachine struct {
	runnertest.Runtime
	id    string
	world *runnertest.World

	mu      sync.Mutex
	adopted []string // actions that it was asked for
	broken  error    // why it cannot answer for actions; nil = it can
	runs    bool     // its actions run: it says so to a client that greets it with their state
	lineage string   // of the state of the latest client

	received func()       // is called when it gets an image; nil = nothing is
	claimed  atomic.Int32 // how often it was told what states declare
}

func (m *hostMachine) Enter(_ context.Context, h remote.Hello) (remote.Welcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lineage = h.Lineage
	return remote.Welcome{Boot: "b", Facts: protocol.HostFacts{Machine: m.id, CPUs: 2}}, nil
}
func (*hostMachine) Acts(context.Context, remote.Hello) error          { return nil }
func (*hostMachine) Look(context.Context, []remote.Plug) []remote.Seen { return nil }
func (m *hostMachine) Receive(context.Context, imagestore.Shipment, imagestore.Contents) error {
	if m.received != nil {
		m.received()
	}
	return nil
}
func (m *hostMachine) Claim(context.Context, claims.Request) ([]claims.Record, error) {
	m.claimed.Add(1)
	return nil, nil
}

func (*hostMachine) Bring(context.Context, remote.Files, io.Reader) error { return nil }

func (m *hostMachine) Adopt(_ context.Context, id string, _ runner.Watch) (runner.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.adopted = append(m.adopted, id)
	return runner.Outcome{Fate: runner.Exited}, m.broken
}

func (m *hostMachine) Running(context.Context, string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs && m.lineage != "", m.broken
}

// network has machines by their addresses, and what is here.
type network struct {
	dir      string
	here     *hostMachine
	machines map[string]*hostMachine
}

func newNetwork(t *testing.T, addresses ...string) *network {
	n := &network{dir: t.TempDir(), here: newMachine("here"), machines: map[string]*hostMachine{}}
	for _, a := range addresses {
		n.machines[a] = newMachine("m-" + a)
	}
	return n
}

func newMachine(id string) *hostMachine {
	m := &hostMachine{Runtime: runnertest.Runtime{Fake: runnertest.NewFake()}, id: id, world: runnertest.NewWorld()}
	m.Add("thing", m.world.Program)
	return m
}

func (n *network) dial(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error) {
	m := n.machines[h.Address]
	if m == nil {
		return nil, errors.New("no route to " + h.Address)
	}
	here, there := net.Pipe()
	go func() { _ = remote.Serve(context.Background(), there, m, remote.DefaultTiming()) }() // it ends with its client
	return remote.NewClient(ctx, here, as, remote.DefaultTiming())
}

// engine returns an engine over a manifest.
func (n *network) engine(t *testing.T, manifest string) *app.Engine {
	t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	e := app.New(app.Options{Workspace: workspace.Options{Dir: n.dir, Home: n.dir, Version: "test"}, Dial: n.dial,
		Open: func(context.Context) (app.Runtime, error) { return n.here, nil }})
	t.Cleanup(e.Close)
	return e
}

// apply applies a manifest.
func (n *network) apply(t *testing.T, manifest string, s plan.Selection) error {
	t.Helper()
	e := n.engine(t, manifest)
	report, err := e.Apply(t.Context(), app.ApplyOptions{Selection: s, Approval: approval.Options{Auto: true}})
	if err == nil && report.Status != apply.OK {
		err = fmt.Errorf("%s: %w", report.Status, report.Problems.Err())
	}
	return err
}

// plan plans a manifest.
func (n *network) plan(t *testing.T, manifest string, s plan.Selection) (*plan.Plan, error) {
	t.Helper()
	e := n.engine(t, manifest)
	return e.Plan(t.Context(), app.PlanOptions{Selection: s})
}

// begin has a command die that had begun an action.
func (n *network) begin(t *testing.T, addr string) {
	t.Helper()
	file := state.File(filepath.Join(n.dir, workspace.DefaultState))
	store, err := state.Open(t.Context(), file, state.Options{Command: "deployster apply"})
	if err != nil {
		t.Fatal(err)
	}
	journal, err := store.Begin("p", store.Snapshot().Lineage)
	if err == nil {
		err = journal.ActionStarted(state.Start{Address: addr, Action: "change", Key: "key of " + addr})
	}
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
}

// done says what was done on machines, by their addresses, since it was last asked.
func (n *network) done() string {
	var list []string
	for addr, m := range n.machines {
		for _, key := range m.adopted {
			list = append(list, addr+": adopt "+key)
		}
		m.adopted = nil
		for _, line := range m.world.TakeLog() {
			list = append(list, addr+": "+line)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// hostsAt declares hosts with things on them: name, address, name, address.
func hostsAt(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "host %q {\n  address = %q\n}\n", pairs[i], pairs[i+1])
	}
	return b.String()
}

func onHost(host, name string) string {
	return fmt.Sprintf("resource %q {\n  type = \"thing\"\n  host = host.%s\n  config = { size = 1 }\n}\n", name, host)
}

// counted are hosts of one block, each with a thing.
func counted(addresses ...string) string {
	list, _ := json.Marshal(addresses)
	return fmt.Sprintf("host \"web\" {\n  count = %d\n  address = %s[count.index]\n}\nresource \"x\" {\n  count = %d\n  type = \"thing\"\n"+
		"  host = host.web[count.index]\n  config = { size = 1 }\n}\n", len(addresses), list, len(addresses))
}

// An action of a command that died is looked for on the machine where it was begun, and
// nothing is done about its resource before.
func TestAdopt_OnTheMachineWhereItWasBegun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now string
		open        string
		want        string
	}{
		"one of a list is gone": {counted("h5", "h6"), counted("h6"), "x[0]", "h5: adopt key of x[0]"},
		"two are swapped": {hostsAt("a", "h5", "b", "h6") + onHost("a", "x") + onHost("b", "y"), hostsAt("a", "h6", "b", "h5") + onHost("a", "x") + onHost("b", "y"),
			"x", "h5: adopt key of x"},
		"its block is renamed": {hostsAt("a", "h5") + onHost("a", "x"), hostsAt("b", "h5b") + onHost("b", "x"), "x", "h5: adopt key of x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t, "h5", "h6")
			if err := n.apply(t, c.before, plan.Selection{}); err != nil {
				t.Fatal(err)
			}
			n.done()
			if strings.Contains(c.now, "h5b") { // and reached in another way
				n.machines["h5b"] = n.machines["h5"]
				delete(n.machines, "h5")
				c.want = strings.Replace(c.want, "h5:", "h5b:", 1)
			}
			n.begin(t, c.open)
			if err := n.apply(t, c.now, plan.Selection{}); err != nil {
				t.Fatal(err)
			}
			if got := n.done(); !strings.Contains(got, c.want) || strings.Count(got, "adopt") != 1 {
				t.Errorf("done: %s; want %s", got, c.want)
			}
		})
	}
}

// Where the machine of an open action cannot be asked, its resource is skipped, by a plan
// too, until a person says how the action ended.
func TestAdopt_LeavesWhatMayStillRun(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "h5", "h6")
	if err := n.apply(t, counted("h5", "h6"), plan.Selection{}); err != nil {
		t.Fatal(err)
	}
	n.begin(t, "x[0]")
	n.done()
	delete(n.machines, "h5")
	p, err := n.plan(t, counted("h6"), plan.Selection{})
	if err != nil || p.Resources["x[0]"] != nil || !slices.Contains(p.LeftOut, "x[0]") {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := n.apply(t, counted("h6"), plan.Selection{}); err == nil || !strings.Contains(err.Error(), "x[0]: an action may still run there") {
		t.Errorf("apply: %v", err)
	}
	if got := n.done(); strings.Contains(got, "make") || strings.Contains(got, "adopt") {
		t.Errorf("done: %s", got)
	}
	e := n.engine(t, counted("h6"))
	if _, err := resolving.Resolve(t.Context(), e, "x[0]", actions.Failed, false); err != nil {
		t.Fatal(err)
	}
	if p, err = n.plan(t, counted("h6"), plan.Selection{}); err != nil || p.Resources["x[0]"] == nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// What is on a host that is down is left out, also where its instances are known only by
// states or facts. What a host would have to be asked for is left too.
func TestReach_LeavesInstancesThatAreKnownLate(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "h5")
	list := "resource \"list\" {\n  type = \"thing\"\n  config = { names = [\"p\", \"q\"] }\n}\n"
	if err := n.apply(t, list, plan.Selection{}); err != nil {
		t.Fatal(err)
	}
	several := func(name, host, of string) string {
		return strings.Replace(onHost(host, name), "{", "{\n  "+of, 1)
	}
	both := hostsAt("a", "h5", "b", "h6") + list + onHost("a", "x")
	for of, want := range map[string][2][]string{
		"for_each = toset(resource.list.state.names)": {{`late["p"]`, `late["q"]`}, {`there["p"]`, `there["q"]`}},
		"count = host.a.facts.cpus":                   {{"late[0]", "late[1]"}, {"there[0]", "there[1]"}},
		"count = host.b.facts.cpus":                   {{"late", "there"}, nil},
	} {
		for _, s := range []plan.Selection{{}, {Excludes: []string{"host.b"}}} {
			p, err := n.plan(t, both+several("late", "b", of)+several("there", "a", of), s)
			if err != nil {
				t.Errorf("%s: %v", of, err)
				continue
			}
			if slices.Sort(p.LeftOut); !slices.Equal(p.LeftOut, want[0]) {
				t.Errorf("%s: %q are left out, want %q", of, p.LeftOut, want[0])
			}
			for _, addr := range append(want[1], "x") {
				if step := p.Resources[addr]; step == nil || step.Change() != plan.Create {
					t.Errorf("%s: %s is %+v", of, addr, step)
				}
			}
		}
	}
}

// What is left out on a host that is down may have moved in the manifest, and a host as a
// target has the instances that follow from facts.
func TestReach_MeansTheAddressesOfToday(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "h5", "h6")
	both := hostsAt("a", "h5", "b", "h6") + onHost("a", "x")
	if err := n.apply(t, both+onHost("b", "y"), plan.Selection{}); err != nil {
		t.Fatal(err)
	}
	delete(n.machines, "h6")
	p, err := n.plan(t, both+onHost("b", "z")+"moved {\n  from = resource.y\n  to = resource.z\n}\n", plan.Selection{})
	if err != nil || !slices.Equal(p.LeftOut, []string{"z"}) || len(p.Resources) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	counted := strings.Replace(onHost("a", "cpu"), "{", "{\n  count = host.a.facts.cpus", 1)
	p, err = n.plan(t, both+counted, plan.Selection{Targets: []string{"host.a"}})
	if err != nil || fmt.Sprint(slices.Sorted(maps.Keys(p.Resources))) != "[cpu[0] cpu[1] x]" {
		t.Errorf("%+v, %v", p, err)
	}
}

// A host in a selection means what is recorded on it too, whatever is declared.
func TestReach_SelectsWhatIsRecordedOnAHost(t *testing.T) {
	t.Parallel()
	web, db := hostsAt("web", "h5"), hostsAt("db", "h6")
	only, but := plan.Selection{Targets: []string{"host.web"}}, plan.Selection{Excludes: []string{"host.web"}}
	for name, c := range map[string]struct {
		now  string // "" = all is destroyed
		s    plan.Selection
		want string // what goes
	}{
		"exclude":                         {web + db, but, "y"},
		"target":                          {web + db, only, "x"},
		"exclude, its block is gone":      {db, but, "y"},
		"target, its block is gone":       {db, only, "x"},
		"target, its block is renamed":    {hostsAt("front", "h5") + db, plan.Selection{Targets: []string{"host.front"}}, "x"},
		"exclude, it is another machine":  {hostsAt("web", "h7") + db, but, "y"},
		"destroy, and exclude":            {"", but, "y"},
		"destroy, and target":             {"", only, "x"},
		"destroy, and target an instance": {"", plan.Selection{Targets: []string{`host.web["x"]`}}, "is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t, "h5", "h6", "h7")
			if err := n.apply(t, web+db+onHost("web", "x")+onHost("db", "y"), plan.Selection{}); err != nil {
				t.Fatal(err)
			}
			c.s.Destroy = c.now == ""
			p, err := n.plan(t, c.now, c.s)
			var gone []string
			if err == nil {
				gone = slices.Sorted(maps.Keys(p.Resources))
			} else {
				gone = []string{err.Error()}
			}
			if len(gone) != 1 || !strings.Contains(gone[0], c.want) {
				t.Errorf("planned: %q, want %s", gone, c.want)
			}
		})
	}
}

// A host that is reached, and cannot answer for its actions, stops nothing on other hosts.
func TestAdopt_SkipsAHostThatCannotAnswer(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "h5", "h6")
	if err := n.apply(t, counted("h5", "h6"), plan.Selection{}); err != nil {
		t.Fatal(err)
	}
	n.begin(t, "x[0]")
	n.done()
	n.machines["h5"].broken = errors.New("the metadata there is damaged")
	larger := strings.Replace(counted("h5", "h6"), "size = 1", "size = 2", 1)
	p, err := n.plan(t, larger, plan.Selection{})
	if err != nil || p.Resources["x[0]"] != nil || p.Resources["x[1]"] == nil || !slices.Contains(p.LeftOut, "x[0]") {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := n.apply(t, larger, plan.Selection{}); err == nil || !strings.Contains(err.Error(), "x[0]") || strings.Contains(err.Error(), "x[1]") {
		t.Errorf("apply: %v", err)
	}
	if got := n.done(); strings.Contains(got, "h5: grow") || strings.Contains(got, "h5: change") || !strings.Contains(got, "h6: ") {
		t.Errorf("done: %s", got)
	}
}
