package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"deployster/internal/runtime/remote"
)

// rules are what a client does for the fence. Each mutant leaves one out.
type rules struct {
	check bool // it reads the Lease after its Pod runs
	same  bool // a Lease that is missing, or another one, stops it
	list  bool // a new client notifies the agents of all Pods, or deletes the Pods
	agent bool // agents refuse who is older
	store bool // who finds no record asks its store whether it still holds the state
}

func all() rules { return rules{true, true, true, true, true} }

// agent is the first process of a Pod.
type agent struct {
	fence   remote.Fence
	current int  // the latest connection of a client that acts
	dead    bool // its Pod was deleted
	cut     bool // it cannot be reached
}

// world is what the clients share. It implements Leases.
type world struct {
	random *rand.Rand
	rules  rules
	lease  *coordination.Lease
	writes int
	agents map[string]*agent
	holder int64 // the epoch that holds the state in the store
	acting int64 // the highest epoch whose client may act
	wrong  string
	conns  int
}

// GetLease implements Leases.
func (w *world) GetLease(context.Context, string) (*coordination.Lease, error) {
	return w.lease.DeepCopy(), nil
}

// CreateLease implements Leases.
func (w *world) CreateLease(_ context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return w.write(l, func() error {
		if w.lease != nil {
			return apierrors.NewAlreadyExists(schema.GroupResource{}, l.Name)
		}
		l.UID = types.UID(fmt.Sprint("uid", w.writes))
		return nil
	})
}

// UpdateLease implements Leases.
func (w *world) UpdateLease(_ context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return w.write(l, func() error {
		if w.lease == nil {
			return apierrors.NewNotFound(schema.GroupResource{}, l.Name)
		}
		if w.lease.ResourceVersion != l.ResourceVersion || w.lease.UID != l.UID {
			return apierrors.NewConflict(schema.GroupResource{}, l.Name, nil)
		}
		return nil
	})
}

// write writes the Lease, unless the request or its answer is lost.
func (w *world) write(l *coordination.Lease, refuses func() error) (*coordination.Lease, error) {
	if w.random.IntN(20) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	w.writes++
	l = l.DeepCopy()
	if err := refuses(); err != nil {
		return nil, err
	}
	l.ResourceVersion = fmt.Sprint(w.writes)
	w.lease = l
	if w.random.IntN(20) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return l.DeepCopy(), nil
}

// hello connects a client to an agent, and returns the number of the connection.
func (w *world) hello(pod string, h remote.Hello) (int, error) {
	a := w.agents[pod]
	if a == nil || a.dead || a.cut {
		return 0, errors.New("it cannot be reached")
	}
	if w.rules.agent {
		if err := a.fence.Refuses(h, "this Pod"); err != nil {
			return 0, err
		}
	}
	a.fence = a.fence.Admit(h)
	w.conns++
	a.current = w.conns
	return w.conns, nil
}

// run begins an action. Nobody may begin one after a later client may act.
func (w *world) run(pod string, conn int, epoch int64) {
	a := w.agents[pod]
	if a.dead || a.current != conn {
		return
	}
	if epoch < w.acting {
		w.wrong = fmt.Sprintf("the client of epoch %d begins an action after that of epoch %d may act", epoch, w.acting)
	}
}

// client is what one process of a command does, with a pause before each step.
func (w *world) client(epoch int64, process int) iter.Seq[int] {
	return func(pause func(int) bool) {
		step := func() bool { return pause(0) }
		ctx := context.Background()
		h := remote.Hello{Lineage: "l", Epoch: epoch, Run: fmt.Sprint("run", epoch), Store: "s", Turn: uint64(epoch)}
		if !step() {
			return
		}
		f, err := Enter(ctx, w, "lease", h, time.Minute)
		if err != nil || !step() {
			return
		}
		for _, pod := range slices.Sorted(maps.Keys(w.agents)) {
			if !step() || !w.rules.list {
				break
			}
			if _, err := w.hello(pod, h); err != nil {
				w.agents[pod].dead = true
			}
		}
		if !step() {
			return
		}
		if f.Unproven() && w.rules.store && w.holder != epoch {
			return
		}
		w.acting = max(w.acting, epoch)
		for i := range 2 {
			if !w.act(ctx, f, h, fmt.Sprintf("p-%d-%d-%d", epoch, process, i), step) {
				return
			}
		}
	}
}

// act begins an action in a new Pod.
func (w *world) act(ctx context.Context, f *Fence, h remote.Hello, pod string, step func() bool) bool {
	steps := []func() error{
		func() error { return w.mayMiss(f.Act(ctx)) },
		func() error { return w.mayMiss(f.Open(ctx, pod)) },
		func() error {
			w.agents[pod] = &agent{cut: w.random.IntN(4) == 0}
			return nil
		},
		func() error {
			if !w.rules.check {
				return nil
			}
			return w.mayMiss(f.Check(ctx))
		},
	}
	for _, do := range steps {
		if do() != nil || !step() {
			return false
		}
	}
	w.agents[pod].cut = false // it is reached after all
	conn, err := w.hello(pod, h)
	if err != nil || !step() {
		return false
	}
	w.run(pod, conn, h.Epoch)
	return step()
}

// mayMiss accepts a missing Lease where the rule is left out.
func (w *world) mayMiss(err error) error {
	var missing *MissingError
	if !w.rules.same && errors.As(err, &missing) {
		return nil
	}
	return err
}

// schedule runs two commands, and a second process of the first, in a random order, and returns what was wrong.
func schedule(seed uint64, r rules) string {
	random := rand.New(rand.NewPCG(seed, 1))
	w := &world{random: random, rules: r, agents: map[string]*agent{}, holder: 1}
	type process struct {
		next  func() (int, bool)
		stop  func()
		after int // the step of the schedule that it begins at
	}
	begin := func(epoch int64, number, after int) *process {
		next, stop := iter.Pull(w.client(epoch, number))
		return &process{next, stop, after}
	}
	list := []*process{begin(1, 0, 0), begin(1, 1, random.IntN(40)), begin(2, 0, random.IntN(25))}
	removed := random.IntN(60)
	for i := 0; i < 200 && len(list) > 0; i++ {
		if i == removed {
			w.lease = nil
		}
		n := random.IntN(len(list))
		p := list[n]
		if i < p.after {
			continue
		}
		if p.after > 0 && n == len(list)-1 && w.holder == 1 {
			w.holder = 2 // the second command enters when it holds the state
		}
		if _, more := p.next(); !more {
			p.stop()
			list = append(list[:n], list[n+1:]...)
		}
	}
	for _, p := range list {
		p.stop()
	}
	return w.wrong
}

// schedules is how many orders of two clients are tried.
const schedules = 3000

func TestFence_LetsOneClientAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(schedules) {
			if wrong := schedule(seed, all()); wrong != "" {
				t.Fatalf("seed %d: %s", seed, wrong)
			}
		}
	})
}

// Each rule is needed.
func TestFence_NeedsEachRule(t *testing.T) {
	for name, without := range map[string]func(*rules){
		"the Lease is read again":                     func(r *rules) { r.check = false },
		"a missing Lease stops":                       func(r *rules) { r.same = false },
		"all Pods are notified":                       func(r *rules) { r.list = false },
		"agents refuse older clients":                 func(r *rules) { r.agent = false },
		"the store is asked where there is no record": func(r *rules) { r.store = false },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := all()
				without(&r)
				for seed := range uint64(schedules) {
					if schedule(seed, r) != "" {
						t.Logf("seen by schedule %d", seed)
						return
					}
				}
				t.Error("no schedule sees that it is left out")
			})
		})
	}
}
