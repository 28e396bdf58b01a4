package stage

import (
	"cmp"
	"context"
	"sync"
	"time"

	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/machine"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/unsettled"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/plan"
	"deployster/state"
)

// HostOptions declare how a command treats hosts.
type HostOptions struct {
	FailUnreachable bool        // an unreachable host is an error; else the resources on it are left unchanged
	AtOnce          int         // that many hosts are worked on concurrently; 0 = order.Hosts
	MaxFailed       int         // of an apply: after that many failed hosts it starts no further one; 0 = no limit
	Waves           turns.Waves // of an apply: how many hosts are begun together, and what follows
}

// Connected is a state whose machines are connected: this one, and the hosts. The ends of its
// actions are known, as far as they can be found out. Prior has them.
type Connected struct {
	Opened
	Machine *machine.Machine
	Places  *router.Places
	Pins    map[string]router.Pin // the hosts that answered
	Open    []string              // resources with an action that may still run on an unreachable machine

	lineage string // that a new state gets
	atOnce  int
	close   func()
	again   *plan.Plan // whose images and versions are used again; nil = it is the first plan
}

// Begin starts the journal of a run that applies no plan, such as that of operations.
func (n Connected) Begin(run string) (*state.Journal, error) {
	return n.store.Begin(run, cmp.Or(n.store.Snapshot().Lineage, n.lineage))
}

// Close closes the connections that were made for this stage.
func (n Connected) Close() { n.close() }

// Planner returns what makes plans here.
func (n Connected) Planner(c command.Command) draft.Planner {
	return draft.NewPlanner(c, n.Machine, n.Places)
}

// Inputs returns what a plan is made from.
func (n Connected) Inputs(parallelism int) draft.Inputs {
	in := draft.Inputs{Manifest: n.Manifest, Prior: n.Prior, Selection: n.Selection, Hosts: n.Pins, AtOnce: n.atOnce,
		Parallelism: parallelism}
	switch {
	case n.again != nil:
		in.Images, in.Known = n.again.Images, n.again.Artifacts
	case n.Former != nil:
		in.Images, in.Versions = n.Former.Images, n.Former.Then.Artifacts
		if in.Versions == nil {
			in.Versions = map[string]state.Artifact{}
		}
	}
	return in
}

// View connects for a command that acts on nothing. It warns of unknown ends of actions.
func View(ctx context.Context, c command.Command, o Opened, m *machine.Machine, h HostOptions) (Connected, error) {
	n := Connected{Opened: o, Machine: m, Places: m.Places, atOnce: h.AtOnce, close: func() {}}
	n.Places.Known(hosts.Reachable(o.Manifest)) // the recorded way to reach a host comes second
	n.Places.Most(max(h.AtOnce, machine.Connections))
	finder := n.finder(c)
	finder.Places = m.Reader(o.Prior.Lineage)
	defer finder.Places.Close()
	finder.Places.Known(hosts.Reachable(o.Manifest))
	var err error
	if n.Prior, n.Open, err = finder.View(ctx, o.Prior); err != nil {
		return Connected{}, err
	}
	if n, err = n.reach(ctx, c, h.FailUnreachable, true); err == nil {
		hosts.RemoveEnded(ctx, n.Places, n.Manifest, n.Pins, n.Prior.Lineage)
	}
	return n, err
}

// Compare connects for a command that plans no changes, and takes the ends of actions as they are recorded.
func Compare(ctx context.Context, c command.Command, o Opened, m *machine.Machine) (Connected, error) {
	n := Connected{Opened: o, Machine: m, Places: m.Places, close: func() {}}
	return n.reach(ctx, c, false, false)
}

// Act connects for a command that acts and records: hosts are greeted with the identity of the
// run, so that a host that has acted for this state before learns its latest holder. It waits for
// the actions that still run, and records how those ended whose end was not known.
func Act(ctx context.Context, c command.Command, o Opened, m *machine.Machine, name string, h HostOptions) (Connected, error) {
	n := Connected{Opened: o, Machine: m}
	n.greetAs(c, name)
	n.Places.Most(max(h.AtOnce, machine.Connections))
	n.Places.Known(hosts.Reachable(o.Manifest))
	if o.Saved != nil { // its hosts are those of the plan, which take precedence over the recorded ones
		n.Places.Known(hosts.Planned(o.Saved))
		for _, step := range o.Saved.Resources {
			c.Work.Secrets.Add(c.Work.Secrets.StepSecrets(step))
		}
	}
	n, err := n.adopt(ctx, c)
	if err == nil && o.Saved == nil {
		n, err = n.reach(ctx, c, h.FailUnreachable, true)
	}
	if err != nil {
		n.close()
		return Connected{}, err
	}
	return n, nil
}

// ActAgain is Act for a command that is connected already and compares the same manifest again and
// again: pins are its hosts. It connects only to hosts, and only where there are any. A host that
// the apply itself creates counts as one.
func ActAgain(ctx context.Context, c command.Command, o Opened, m *machine.Machine, name string,
	pins map[string]router.Pin) (Connected, error) {
	n := Connected{Opened: o, Machine: m, Places: m.Places, Pins: pins, close: func() {}}
	if len(o.Manifest.Hosts()) > 0 || onHosts(o.Prior) {
		n.greetAs(c, name)
		n.Places.Most(machine.Connections)
		n.Places.Known(hosts.Reachable(o.Manifest))
	}
	n, err := n.adopt(ctx, c)
	if err != nil {
		n.close()
		return Connected{}, err
	}
	return n, nil
}

// greetAs sets the identity that hosts are greeted with.
func (n *Connected) greetAs(c command.Command, name string) {
	lineage := state.NewID()
	if n.Saved != nil {
		lineage = savedplan.Lineage(n.Saved)
	}
	as := remote.Hello{Lineage: cmp.Or(n.Prior.Lineage, lineage), Epoch: int64(n.Prior.Serial) + 1, Turn: n.store.Turn(),
		Run: c.Work.Started.UTC().Format(time.RFC3339Nano), Process: "deployster " + name, Open: unsettled.Open(n.store.Snapshot())}
	if as.Turn != 0 {
		as.Store = n.Place.String()
	}
	n.lineage, n.Places = as.Lineage, n.Machine.Connect(as, n.store.Holds)
	n.close = sync.OnceFunc(n.Places.Close)
}

// adopt finds out and records how actions ended.
func (n Connected) adopt(ctx context.Context, c command.Command) (_ Connected, err error) {
	n.Open, err = n.finder(c).Adopt(ctx, n.store, n.Saved)
	n.Prior = n.transfers.Snapshot()
	return n, err
}

func (n Connected) finder(c command.Command) unsettled.Finder {
	return unsettled.Finder{Command: c, Places: n.Places, Place: n.Place, Manifest: n.Manifest, AtOnce: n.atOnce}
}

// reach connects to the hosts. With makes the plan may create the machines of unreachable hosts.
func (n Connected) reach(ctx context.Context, c command.Command, fail, makes bool) (Connected, error) {
	n.left.Leave(&n.Selection)
	s := hosts.Subject{Manifest: n.Manifest, Prior: n.Prior, Selection: n.Selection, Open: n.Open, AtOnce: n.atOnce, Fail: fail}
	if makes {
		s.Draft = func(ctx context.Context, m *config.Manifest, pins map[string]router.Pin, chosen plan.Selection) (*plan.Plan, error) {
			in := n.Inputs(0)
			in.Manifest, in.Hosts, in.Selection = m, pins, chosen
			p, _, diags, err := n.Planner(c).Plan(ctx, in)
			if diags.HasErrors() {
				p = nil
			}
			return p, err
		}
	}
	foreseen := n.Planner(c).Foresee(ctx, n.Inputs(0))
	found, err := hosts.Connect(ctx, c.Work, n.Places, s)
	foreseen()
	n.Manifest, n.Selection, n.Pins = found.Manifest, found.Selection, found.Pins
	n.left.Leave(&n.Selection)
	return n, err
}

// onHosts reports whether the state has an entry on a host.
func onHosts(s state.Snapshot) bool {
	for _, e := range s.Resources {
		if e.Settings.Host != nil {
			return true
		}
	}
	return false
}
