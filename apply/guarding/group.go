package guarding

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Client guards actions on hosts. *typeclient.Client is one.
type Client interface {
	Arm(ctx context.Context, h runner.Host, g runner.Group) error
	Protect(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.ActionInput, key string, order int) error
	Settle(ctx context.Context, h runner.Host, g runner.Group, keep bool) (runner.Settlement, error)
	Dismiss(ctx context.Context, h runner.Host, key string) error
}

// Group is a group of resources on one host whose guarded actions are armed together, and settled
// after the last. It is safe for concurrent use.
type Group struct {
	Settle string // the node that settles it
	Turn   string // the node after which the next group on the host begins

	client Client
	host   string
	nodes  []string        // of its resources, sorted
	of     []string        // its resources, in their order
	inner  map[string]bool // those with guarded actions, as far as the plan knows, and what is done between them

	mu    sync.Mutex
	armed runner.Group // with a key: it is armed
	at    runner.Host  // where it is armed
	saved map[string]bool
	ended map[string]bool // nodes that ended well
	held  map[string]*Held
}

// Resources returns the addresses of the group.
func (g *Group) Resources() []string { return g.of }

// Armed reports whether guarded actions of the group may have begun, and nothing is decided.
func (g *Group) Armed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.armed.Key != ""
}

// Holds reports whether what was done to a resource is undone unless the group is confirmed.
func (g *Group) Holds(addr string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.armed.Key != "" && g.saved[addr]
}

// ErrAfter reports that an action is guarded, or is not and would be done before a group is confirmed, which
// the plan could not know.
var ErrAfter = errors.New("which of its actions are guarded was not known when the plan was made: plan and apply again")

// member is a resource as it is protected.
type member struct {
	target typeclient.Target
	ty     protocol.Type
	input  protocol.ActionInput
}

// begin prepares an action of a member: if it is guarded, the group is armed and the member protected,
// with all others whose guarded actions are known. It returns the key of the group; "" = the action
// is not of an armed group. After an error the action must not begin.
func (g *Group) begin(ctx context.Context, m member, guarded bool, others func(addr string) *member) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.armed.Key == "" {
		if !guarded {
			return "", nil
		}
		t := m.target
		random := make([]byte, 16)
		_, _ = rand.Read(random) // never fails
		armed := runner.Group{Key: hex.EncodeToString(random), After: t.Settings.Host.UndoUnlessReached, Resources: g.of}
		if err := g.client.Arm(ctx, *t.Settings.Host, armed); err != nil {
			return "", err
		}
		g.armed, g.at = armed, *t.Settings.Host
		for _, addr := range g.of {
			if other := others(addr); other != nil && addr != t.Address {
				if err := g.protect(ctx, *other); err != nil {
					return "", err
				}
			}
		}
	}
	if !guarded && !g.inner[m.target.Address] {
		return "", ErrAfter
	}
	if guarded {
		if err := g.protect(ctx, m); err != nil {
			return "", err
		}
	}
	return g.armed.Key, nil
}

// protect protects a member once.
func (g *Group) protect(ctx context.Context, m member) error {
	addr := m.target.Address
	if g.saved[addr] {
		return nil
	}
	err := g.client.Protect(ctx, m.target, m.ty, m.input, g.armed.Key, slices.Index(g.of, addr))
	g.saved[addr] = err == nil
	return err
}

// End notes how a node of the group ended. One that has to wait does not count.
func (g *Group) End(node string, well bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if well {
		g.ended[node] = true
	}
}

// Whole reports whether all of the group was done: only then it is confirmed.
func (g *Group) Whole() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !slices.ContainsFunc(g.nodes, func(node string) bool { return !g.ended[node] })
}

// decide has the host confirm or undo the group, and returns the verdict. The group is not armed
// any more, whatever the result.
func (g *Group) decide(ctx context.Context) (runner.Settlement, error) {
	keep := g.Whole()
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.client.Settle(ctx, g.at, g.armed, keep)
	if err == nil && s.Settled() {
		// What is left there is removed by the next client otherwise.
		_ = g.client.Dismiss(ctx, g.at, g.armed.Key)
	}
	g.armed.Key = ""
	return s, err
}

// after returns how long after the last action the host undoes the group.
func (g *Group) after() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.armed.After
}

// Host returns the name of the host.
func (g *Group) Host() string { return g.host }
