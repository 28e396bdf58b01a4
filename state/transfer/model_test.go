package transfer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deployster/state"
	"deployster/state/moves"
	"deployster/state/transfer"
)

// errKilled is the end of a command that dies at a call.
var errKilled = errors.New("killed")

// mortal is a state whose command dies at one of its writes: right before it, or right after.
type mortal struct {
	transfer.Side
	left  *int // writes until then, of both states; below zero = it does not die
	after bool
	check func()
}

func (m mortal) Replace(next state.Snapshot) error {
	return m.call(func() error { return m.Side.Replace(next) })
}

func (m mortal) Announce(a state.Announced) error {
	return m.call(func() error { return m.Side.Announce(a) })
}

func (m mortal) Withdraw(id string) error {
	return m.call(func() error { return m.Side.Withdraw(id) })
}

func (m mortal) call(do func() error) error {
	*m.left--
	if *m.left == 0 && !m.after {
		return errKilled
	}
	if err := do(); err != nil {
		return err
	}
	m.check()
	if *m.left == 0 {
		return errKilled
	}
	return nil
}

// history is a random history of two projects and the things that they have.
type history struct {
	t      *testing.T
	rnd    *rand.Rand
	places [2]string
	exists map[string]bool // the things, by the config of their entries
	log    []string
	names  int // addresses that were used
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s\nafter %q", fmt.Sprintf(format, args...), h.log)
}

func (h *history) open(i int) *state.Store {
	s, err := state.Open(h.t.Context(), state.File(h.places[i]), state.Options{Command: "test"})
	if err != nil {
		h.fail("project %d: %v", i, err)
	}
	return s
}

// things returns what a state has: the addresses, by the thing.
func things(s state.Snapshot) map[string]string {
	list := map[string]string{}
	for addr, e := range s.Resources {
		list[string(e.Config)] = addr
	}
	return list
}

// nothingLost checks that every thing that exists is in at least one of the states.
func (h *history) nothingLost(stores ...*state.Store) {
	h.t.Helper()
	for thing := range h.exists {
		_, here := things(stores[0].Snapshot())[thing]
		_, there := things(stores[1].Snapshot())[thing]
		if !here && !there {
			h.fail("%s is in neither state", thing)
		}
	}
}

// together runs what needs both states, and dies somewhere in it, or not.
func (h *history) together(what string, dies int, do func(from, to transfer.End) error) {
	from := h.rnd.IntN(2)
	stores := []*state.Store{h.open(0), h.open(1)}
	left, after := dies, h.rnd.IntN(2) == 0
	h.log = append(h.log, fmt.Sprintf("%s from %d, dies at %d (after: %t)", what, from, dies, after))
	end := func(i int) transfer.End {
		return transfer.End{Side: mortal{stores[i], &left, after, func() { h.nothingLost(stores...) }}, Name: h.places[i]}
	}
	if err := do(end(from), end(1-from)); err != nil && !errors.Is(err, errKilled) {
		h.log = append(h.log, err.Error())
	}
	h.nothingLost(stores...)
	for _, s := range stores {
		if err := s.Close(); err != nil {
			h.fail("close: %v", err)
		}
	}
}

// pick returns some of the addresses that a state has.
func (h *history) pick(s state.Snapshot) (list []moves.Move) {
	for _, addr := range slices.Sorted(maps.Values(things(s))) {
		if h.rnd.IntN(2) == 0 && s.Resources[addr].Transfer == nil {
			h.names++
			list = append(list, moves.Move{From: addr, To: fmt.Sprintf("%s%d", addr[:1], h.names)})
		}
	}
	return list
}

// apply is an apply of one project that cannot reach the other one, and whose manifest declares nothing: it destroys all that it may.
func (h *history) apply(i int) {
	h.log = append(h.log, fmt.Sprintf("destroy in %d", i))
	other, _, err := state.Load(state.File(h.places[1-i]))
	if err != nil {
		h.fail("project %d: %v", 1-i, err)
	}
	s := h.open(i)
	h.knows(i, s, other)
	if h.rnd.IntN(2) == 0 { // the other project begins to give something while this one plans
		h.announce(1-i, s)
		if other, _, err = state.Load(state.File(h.places[1-i])); err != nil {
			h.fail("project %d: %v", 1-i, err)
		}
		h.knows(i, s, other)
	}
	j, err := s.Begin(state.NewID(), s.Snapshot().Lineage)
	if err != nil {
		h.fail("begin: %v", err)
	}
	for thing, addr := range things(s.Snapshot()) {
		if h.rnd.IntN(3) > 0 {
			continue
		}
		if j.ActionStarted(state.Start{Address: addr, Action: "remove", Key: "k"}) != nil {
			continue
		}
		if _, there := things(other)[thing]; there {
			h.fail("project %d destroys %s, which the other has", i, thing)
		}
		delete(h.exists, thing)
		if err := errors.Join(j.ActionEnded(addr, "remove", state.End{}), j.Removed(addr)); err != nil {
			h.fail("%v", err)
		}
	}
	if err := errors.Join(j.Finish(state.StatusOK), s.Close()); err != nil {
		h.fail("%v", err)
	}
}

// knows checks that a project that begins to act knows of all that leaves the other one for it: it would make or adopt it otherwise,
// as its manifest may declare that already.
func (h *history) knows(i int, s *state.Store, other state.Snapshot) {
	h.t.Helper()
	if err := transfer.Arrived(transfer.End{Side: s, Name: h.places[i]}); err != nil {
		h.fail("%v", err)
	}
	coming, err := s.Announced()
	if err != nil {
		h.fail("%v", err)
	}
	seen := things(transfer.Awaited(s.Snapshot(), coming))
	for thing, addr := range things(other) {
		if t := other.Resources[addr].Transfer; t == nil || t.To == nil {
			continue
		}
		if at, known := seen[thing]; !known {
			h.fail("project %d makes or adopts %s, which is leaving the other", i, thing)
		} else if e := transfer.Awaited(s.Snapshot(), coming).Resources[at]; e.Transfer == nil {
			h.fail("project %d acts on %s, which is leaving the other", i, thing)
		}
	}
}

// announce is an apply of one project that gives things to the other one, which is in use, and dies somewhere in it, or not.
func (h *history) announce(i int, other *state.Store) {
	dies, after := h.rnd.IntN(4), h.rnd.IntN(2) == 0
	h.log = append(h.log, fmt.Sprintf("announce from %d, dies at %d (after: %t)", i, dies, after))
	s := h.open(i)
	there, err := state.Beside(state.File(h.places[1-i]), nil)
	if err != nil {
		h.fail("project %d: %v", 1-i, err)
	}
	end := func(side transfer.Side, at int) transfer.End {
		return transfer.End{Side: mortal{side, &dies, after, func() { h.nothingLost(s, other) }}, Name: h.places[at]}
	}
	if err := transfer.Begin(end(s, i), end(there, 1-i), h.pick(s.Snapshot()), time.Unix(2, 0)); err != nil {
		h.log = append(h.log, err.Error())
	}
	if err := s.Close(); err != nil {
		h.fail("close: %v", err)
	}
}

// Whatever dies at whichever call: a thing is in at least one of the two states, destroyed by neither while the other has it,
// and in exactly one when the transfers are finished.
func TestModel_RandomTransfers(t *testing.T) {
	const seeds = 60
	for seed := range uint64(seeds) {
		h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), exists: map[string]bool{}, names: 9}
		dir, err := os.MkdirTemp("/dev/shm", "transfer") // in memory: each write of a state waits for the disk
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		for i := range h.places {
			h.places[i] = filepath.Join(dir, fmt.Sprintf("%d.json", i))
			s := h.open(i)
			next := s.Snapshot().Clone()
			for n := range 3 {
				thing := fmt.Sprintf(`{"thing":"%d %d"}`, i, n)
				h.exists[thing] = true
				next.Resources[fmt.Sprintf("%c%d", 'a'+n, i)] = state.Entry{Type: "acme/thing:1", Digest: "sha256:1", Config: json.RawMessage(thing),
					State: json.RawMessage("{}"), ValidAt: time.Unix(1, 0), Memory: json.RawMessage(`"id"`), Acted: 3}
			}
			if err := errors.Join(s.Replace(next), s.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			dies := h.rnd.IntN(10)
			switch h.rnd.IntN(5) {
			case 0, 1:
				h.together("transfer", dies, func(from, to transfer.End) error {
					if err := transfer.Begin(from, to, h.pick(from.Snapshot()), time.Unix(2, 0)); err != nil {
						return err
					}
					return transfer.Finish(from, to)
				})
			case 2:
				h.together("finish", dies, transfer.Finish)
			case 3:
				h.together("cancel", dies, func(from, to transfer.End) error {
					return transfer.Cancel(from, to, from.Snapshot().Travels())
				})
			default:
				h.apply(h.rnd.IntN(2))
			}
		}
		h.atRest()
	}
}

// atRest finishes what is on its way, and checks that each thing is in exactly one state.
func (h *history) atRest() {
	h.together("finish", 0, func(from, to transfer.End) error {
		return errors.Join(transfer.Finish(from, to), transfer.Finish(to, from))
	})
	count := map[string]int{}
	for i := range h.places {
		s, _, err := state.Load(state.File(h.places[i]))
		if err != nil {
			h.fail("%v", err)
		}
		if coming, err := state.AnnouncedAt(state.File(h.places[i]), nil); err != nil || len(coming) > 0 {
			h.fail("to %d is still announced %v, %v", i, coming, err)
		}
		for thing, addr := range things(s) {
			if count[thing]++; s.Resources[addr].Transfer != nil {
				h.fail("%s is still on its way in %d", addr, i)
			}
		}
	}
	for thing := range h.exists {
		if count[thing] != 1 {
			h.fail("%s is in %d states", thing, count[thing])
		}
	}
}
