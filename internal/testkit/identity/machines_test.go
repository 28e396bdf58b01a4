package identity_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/testkit/identity"
	"deployster/protocol"
	"deployster/state"
)

// machine is a host in memory: the types of the lab run there, over its own things.
type machine struct {
	runnertest.Runtime
	id string
}

// newMachine returns one with all types that can be on hosts.
func newMachine(l *lab, id string) *machine {
	fake := runnertest.NewFake()
	for _, ty := range []identity.Knows{identity.ByIdentity, identity.ByConfig} {
		fake.Add(reference(ty, 1), l.program(ty, says(ty, 1), id))
	}
	return &machine{Runtime: runnertest.Runtime{Fake: fake}, id: id}
}

// Enter implements remote.Place.
func (m *machine) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	return remote.Welcome{Boot: "b", Facts: protocol.HostFacts{Machine: m.id, OS: "debian"}, Clock: time.Now()}, nil
}

// Acts implements remote.Place.
func (*machine) Acts(context.Context, remote.Hello) error { return nil }

// Look implements remote.Place.
func (*machine) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	seen := make([]remote.Seen, len(plugs))
	for i, p := range plugs {
		seen[i].Path = p.Path
	}
	return seen
}

// Receive implements remote.Place.
func (*machine) Receive(context.Context, imagestore.Shipment, imagestore.Contents) error { return nil }
func (*machine) Claim(context.Context, claims.Request) ([]claims.Record, error)          { return nil, nil }

func (*machine) Bring(context.Context, remote.Files, io.Reader) error { return nil }

// dial reaches the machine that answers at the address of a host.
func (l *lab) dial(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error) {
	l.mu.Lock()
	at := ""
	if l.site != nil {
		if at = l.site.Answers[h.Address]; l.site.Down[at] {
			at = ""
		}
	}
	if at != "" && l.machines[at] == nil {
		l.machines[at] = newMachine(l, at)
	}
	m := l.machines[at]
	l.mu.Unlock()
	if m == nil {
		return nil, errors.New("no route to " + h.Address)
	}
	here, there := net.Pipe()
	timing := remote.Timing{Ping: time.Hour, Silence: 2 * time.Hour}
	go func() { _ = remote.Serve(context.Background(), there, m, timing) }() // it ends with its client, which is no fault
	return remote.NewClient(ctx, here, as, timing)
}

// hosts writes the host blocks of a site.
func hosts(s *identity.Site) string {
	if s == nil {
		return ""
	}
	var text strings.Builder
	var pool []string
	for _, at := range slices.Sorted(maps.Keys(s.Names)) {
		name, key, one := strings.Cut(s.Names[at], "[")
		if one {
			pool = append(pool, fmt.Sprintf("%s = %q", strings.Trim(key, `"]`), s.Address[at]))
			continue
		}
		fmt.Fprintf(&text, "host %q {\n  address = %q\n}\n", name, s.Address[at])
	}
	if len(pool) > 0 {
		fmt.Fprintf(&text, "host \"pool\" {\n  for_each = { %s }\n  address  = each.value\n}\n", strings.Join(pool, ", "))
	}
	return text.String()
}

// hostOf says on which host the instances of a block are, in their order.
func hostOf(c identity.Command, addresses []string) string {
	if c.Site == nil {
		return ""
	}
	var list []string
	for _, a := range addresses {
		list = append(list, "null")
		if name := c.Site.Names[c.Manifest[a].Config.Place]; name != "" {
			list[len(list)-1] = "host." + name
		}
	}
	switch blockOf(addresses[0]) {
	case "s":
		return fmt.Sprintf("  host = [%s][count.index]\n", strings.Join(list, ", "))
	case "m":
		for i, a := range addresses {
			list[i] = a[2:len(a)-1] + " = " + list[i]
		}
		return fmt.Sprintf("  host = { %s }[each.key]\n", strings.Join(list, ", "))
	}
	return fmt.Sprintf("  host = %s\n", list[0])
}

// away are the entries of what is on hosts that are down, by their addresses. Where a host
// has another machine now, what is on the former one may be forgotten.
func away(s state.Snapshot, site *identity.Site) map[string]string {
	found := map[string]string{}
	for addr, e := range s.Resources {
		if h := e.Settings.Host; site != nil && h != nil && site.Down[h.Machine] && site.Names[h.Machine] != "" {
			found[addr] = fmt.Sprint(h.Machine, string(e.Config))
		}
	}
	return found
}
