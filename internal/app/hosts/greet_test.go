package hosts

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// host is a far end in memory whose clock goes wrong.
type host struct {
	runnertest.Runtime
	machine string
	behind  time.Duration
	after   <-chan struct{} // closed before it answers; nil = it answers at once
	done    func()          // it answers; nil = nobody counts
	pending []string        // resources whose undo is pending
}

func (h host) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	if h.after != nil {
		<-h.after
	}
	if h.done != nil {
		h.done()
	}
	return remote.Welcome{Facts: protocol.HostFacts{Machine: h.machine}, Clock: time.Now().Add(-h.behind), Runc: "1.4.3",
		Pending: h.pending, Free: int64(len(h.machine))}, nil
}
func (host) Acts(context.Context, remote.Hello) error                                { return nil }
func (host) Look(context.Context, []remote.Plug) []remote.Seen                       { return nil }
func (host) Receive(context.Context, imagestore.Shipment, imagestore.Contents) error { return nil }
func (host) Claim(context.Context, claims.Request) ([]claims.Record, error)          { return nil, nil }

func (host) Bring(context.Context, remote.Files, io.Reader) error { return nil }

// greet greets hosts by their addresses; one that is not there is down.
func greet(t *testing.T, there map[string]host, on map[string]*Resident, atOnce int) Reached {
	t.Helper()
	timing := remote.Timing{Ping: time.Hour, Silence: 2 * time.Hour}
	p := router.New(router.Options{Dial: func(ctx context.Context, h runner.Host) (*remote.Client, error) {
		at, up := there[h.Address]
		if !up {
			return nil, fmt.Errorf("no route to %s", h.Address)
		}
		here, distant := net.Pipe()
		go func() { _ = remote.Serve(context.Background(), distant, at, timing) }() // it ends with its client
		return remote.NewClient(ctx, here, remote.Hello{}, timing)
	}})
	t.Cleanup(p.Close)
	return Greet(context.Background(), p, on, atOnce)
}

// A host whose clock is wrong is reached as any other, and by how much it is wrong is known.
func TestGreet_Clock(t *testing.T) {
	t.Parallel()
	on := map[string]*Resident{}
	there := map[string]host{"a": {machine: "m1"}, "b": {machine: "m2", behind: 2 * time.Hour}, "c": {machine: "m3", behind: -time.Hour}}
	for _, name := range []string{"a", "b", "c", "down"} {
		on[name] = &Resident{Host: runner.Host{Name: name, Address: name}}
	}
	found := greet(t, there, on, 0)
	for name, at := range there {
		if off := (found.Conditions[name].Slow - at.behind).Abs(); found.Pins[name].Machine != at.machine || found.Pins[name].Unreachable != "" || off > time.Minute {
			t.Errorf("%s: %+v, behind by %s, want %s", name, found.Pins[name], found.Conditions[name].Slow, at.behind)
		}
	}
	if c := found.Conditions["a"]; c.Runc != "1.4.3" || c.Free != 2 {
		t.Errorf("%+v", c)
	}
	if found.Pins["down"].Unreachable != "no route to down" {
		t.Errorf("%+v", found.Pins["down"])
	}
}

// A host that answers late holds up no other, where two are greeted at one time: here it
// answers when all others have.
func TestGreet_OneSlowHost(t *testing.T) {
	t.Parallel()
	const hosts = 200
	there, on := map[string]host{}, map[string]*Resident{}
	var others sync.WaitGroup
	others.Add(hosts - 2)
	all := make(chan struct{})
	go func() { others.Wait(); close(all) }()
	for i := range hosts {
		name := fmt.Sprintf("h%03d", i)
		on[name] = &Resident{Host: runner.Host{Name: name, Address: name}}
		switch i {
		case 0:
			there[name] = host{machine: name, after: all}
		case 1: // it is down
		default:
			there[name] = host{machine: name, done: others.Done}
		}
	}
	found := greet(t, there, on, 2)
	if len(found.Facts) != hosts-1 || found.Pins["h000"].Machine != "h000" || found.Pins["h001"].Unreachable == "" {
		t.Errorf("%d answered, the slow one: %+v, the one that is down: %+v", len(found.Facts), found.Pins["h000"], found.Pins["h001"])
	}
}

// What an undo may still change is named.
func TestGreet_PendingUndo(t *testing.T) {
	t.Parallel()
	on := map[string]*Resident{"a": {Host: runner.Host{Name: "a", Address: "a"}}, "b": {Host: runner.Host{Name: "b", Address: "b"}}}
	found := greet(t, map[string]host{"a": {machine: "m1"}, "b": {machine: "m2", pending: []string{"ssh", "firewall"}}}, on, 0)
	diags := found.pending()
	if len(diags) != 1 || diags[0].Summary != "An undo is pending" || !strings.Contains(diags[0].Detail, "b: guarded actions on ssh, firewall are undone") {
		t.Errorf("%+v", diags)
	}
}
