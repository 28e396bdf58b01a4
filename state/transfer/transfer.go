package transfer

import (
	"fmt"
	"slices"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/state/content"
	"deployster/state/moves"
)

// Side is one of the two states. *state.Store is one that is locked, *state.Outside one that is not: Begin needs no more of
// the second state.
type Side interface {
	Snapshot() content.Snapshot
	// Replace makes a content the state, and returns when it is durable.
	Replace(next content.Snapshot) error
	// Announce reports to all who read the state from now on what comes to it, which Announced returns until it is withdrawn by its id.
	// They need no lock.
	Announce(a content.Announced) error
	Announced() ([]content.Announced, error)
	Withdraw(id string) error
}

// End is a state at one end of a transfer, and how people name it.
type End struct {
	Side
	Name string // its URL, or the path of its file
}

func (e End) other(addr string) *content.Other {
	return &content.Other{State: e.Name, Lineage: e.Snapshot().Lineage, Address: addr}
}

// Is reports whether this is the state that the other one names.
func (e End) Is(o content.Other) bool {
	if o.Lineage != "" {
		return o.Lineage == e.Snapshot().Lineage
	}
	return o.State == e.Name
}

// Check returns the error for a transfer that is refused: each move has the address in the first
// state, and the one in the second.
func Check(from, to End, list []moves.Move) error {
	here, there := from.Snapshot(), to.Snapshot()
	announced, err := to.Announced()
	if err != nil {
		return err
	}
	if here.Lineage == there.Lineage {
		return refuse("One state", "%s and %s are the same state (lineage %s).", from.Name, to.Name, here.Lineage)
	}
	var taken []string
	goes := map[string]string{}
	for _, m := range list {
		if other, twice := goes[m.To]; twice {
			return refuse("Cannot transfer "+m.From, "It and %s would both be %s there.", other, m.To)
		}
		goes[m.To] = m.From
		if why := Unfit(here, m.From); why != "" {
			return refuse("Cannot transfer "+m.From, "%s.", why)
		}
		_, recorded := there.Resources[m.To]
		_, unsettled := there.Unsettled[m.To]
		if recorded || unsettled || there.HasDeposed(m.To) || slices.ContainsFunc(announced, func(a content.Announced) bool {
			return a.Address == m.To && !void(from, a)
		}) {
			taken = append(taken, m.To)
		}
	}
	if len(taken) > 0 {
		return refuse("There is one already", "%s has %s. Name another address with -as.", to.Name, words.List(taken, 3))
	}
	return nil
}

// Unfit returns why the entry of an address cannot leave its state now; "" = it can.
func Unfit(s content.Snapshot, addr string) string {
	e, known := s.Resources[addr]
	_, number := moves.RecordedAt(addr)
	switch {
	case !known:
		return "The state has no " + addr
	case e.Transfer != nil && e.Transfer.To != nil:
		return "It is already being transferred to " + e.Transfer.To.State
	case e.Transfer != nil:
		return "It is still being transferred here, from " + e.Transfer.Other().State
	case len(s.Unsettled[addr].Open()) > 0:
		return "An action on it may still run: run `deployster apply` to determine how it ended"
	case len(s.OpenOperations(addr)) > 0:
		return "An operation on it may still run: `deployster resolve` lists it"
	case len(s.Unsettled[addr].Actions) > 0:
		return "It was not VALID since the last action on it: apply first"
	case e.Dirty:
		return "An action has begun on it, and it was not VALID since: apply first"
	case number > 0 || s.HasDeposed(addr):
		return "An earlier object of it is still to be destroyed: apply first"
	}
	return ""
}

// Begin announces entries to the second state, which need not be locked, and marks them as leaving then. Finish does the rest.
func Begin(from, to End, list []moves.Move, at time.Time) error {
	if err := Check(from, to, list); err != nil {
		return err
	}
	if err := tidy(from, to); err != nil {
		return err
	}
	next := from.Snapshot().Clone()
	for _, m := range list {
		e := next.Resources[m.From]
		t := content.Transfer{ID: content.NewID(), At: at, To: to.other(m.To)}
		coming := *e.Departs()
		coming.Transfer = &content.Transfer{ID: t.ID, At: at, From: from.other(m.From)}
		if err := to.Announce(content.Announced{Address: m.To, Entry: coming}); err != nil {
			return err
		}
		e.Transfer = &t
		next.Resources[m.From] = e
	}
	return from.Replace(next)
}

// Finish takes all that is being transferred from one state to the other to its end.
func Finish(from, to End) error {
	for _, step := range []func(from, to End) error{arrive, leave, settle, tidy} {
		if err := step(from, to); err != nil {
			return err
		}
	}
	return nil
}

// arrive writes what leaves the first state into the second, as arriving.
func arrive(from, to End) error {
	here, next := from.Snapshot(), to.Snapshot().Clone()
	coming, addresses, changed := leaving(from, to), map[string]string{}, false
	for _, addr := range coming {
		addresses[addr] = here.Resources[addr].Transfer.To.Address
	}
	for _, addr := range coming {
		e := here.Resources[addr]
		if knows(next, e.Transfer.ID) {
			continue
		}
		at := e.Transfer.To.Address
		if _, taken := next.Resources[at]; taken {
			return refuse("There is one already", "%s is being transferred to %s as %s, and that was recorded there in the meantime. "+
				"`deployster state transfer -cancel '%s'` keeps it in %s.", addr, to.Name, at, addr, from.Name)
		}
		next.Pins = withPins(next.Pins, here, e)
		e = e.Apart(addresses)
		e.Transfer = &content.Transfer{ID: here.Resources[addr].Transfer.ID, At: here.Resources[addr].Transfer.At, From: from.other(addr)}
		next.Resources[at], changed = e, true
	}
	if !changed {
		return nil
	}
	return to.Replace(next)
}

// leave removes from the first state what the second one has.
func leave(from, to End) error {
	next, there, gone := from.Snapshot().Clone(), to.Snapshot(), map[string]string{}
	for _, addr := range leaving(from, to) {
		e := next.Resources[addr]
		if !knows(there, e.Transfer.ID) {
			continue
		}
		t := *e.Transfer
		t.To = to.other(t.To.Address)
		next.Transferred = slices.DeleteFunc(next.Transferred, func(t content.Transferred) bool { return t.Address == addr })
		next.Transferred = append(next.Transferred, content.Transferred{Transfer: t, Address: addr, Entry: e.Departs()})
		gone[addr] = t.To.Address
		delete(next.Resources, addr)
	}
	if len(gone) == 0 {
		return nil
	}
	for addr, e := range next.Resources {
		next.Resources[addr] = e.Without(gone)
	}
	return from.Replace(next)
}

// settle makes entries that have left the first state usual ones of the second.
func settle(from, to End) error {
	next, changed := to.Snapshot().Clone(), false
	for _, addr := range arriving(from, to) {
		e := next.Resources[addr]
		if went(from.Snapshot(), e.Transfer.ID) {
			next, changed = settled(next, addr), true
		}
	}
	if !changed {
		return nil
	}
	return to.Replace(next)
}

// settled returns a state in which an entry has arrived. What is known of its way out, if it had been there
// before, is forgotten.
func settled(s content.Snapshot, addr string) content.Snapshot {
	e := s.Resources[addr]
	t := *e.Transfer
	e.Transfer = nil
	s.Resources[addr] = e
	s.Transferred = slices.DeleteFunc(s.Transferred, func(was content.Transferred) bool {
		back := was.To != nil && was.To.Lineage == t.From.Lineage && was.To.Address == t.From.Address
		return back || was.Address == addr
	})
	s.Transferred = append(s.Transferred, content.Transferred{Transfer: t, Address: addr})
	return s
}

// Cancel takes entries that are being transferred back to the state that they leave. addresses are
// those of the first state. What the first state no longer has is refused: it can only arrive.
func Cancel(from, to End, addresses []string) error {
	here, there := from.Snapshot().Clone(), to.Snapshot().Clone()
	dropped, unmarked := false, false
	for _, addr := range addresses {
		e, known := here.Resources[addr]
		if !known || e.Transfer == nil || e.Transfer.To == nil {
			return refuse("Nothing to cancel", "%s is not being transferred from %s.", addr, from.Name)
		}
		for at, other := range there.Resources {
			if other.Transfer != nil && other.Transfer.ID == e.Transfer.ID {
				delete(there.Resources, at)
				dropped = true
			}
		}
		e.Transfer = nil
		here.Resources[addr], unmarked = e, true
	}
	if dropped { // first, so that what is not being transferred any more is in one state alone
		if err := to.Replace(there); err != nil {
			return err
		}
	}
	if unmarked {
		if err := from.Replace(here); err != nil {
			return err
		}
	}
	return tidy(from, to)
}

// leaving returns the addresses, sorted, of what is being transferred from one state to the other.
func leaving(from, to End) []string {
	here := from.Snapshot()
	return slices.DeleteFunc(here.Travels(), func(addr string) bool {
		t := here.Resources[addr].Transfer
		return t.To == nil || !to.Is(*t.To)
	})
}

// arriving returns the addresses in the second state of what is being transferred from the first.
func arriving(from, to End) []string {
	there := to.Snapshot()
	return slices.DeleteFunc(there.Travels(), func(addr string) bool {
		t := there.Resources[addr].Transfer
		return t.From == nil || !from.Is(*t.From)
	})
}

// Between reports whether anything is being transferred from one state to the other.
func Between(from, to End) bool { return len(leaving(from, to))+len(arriving(from, to)) > 0 }

// knows reports whether a state has what is transferred under an id.
func knows(s content.Snapshot, id string) bool {
	for _, e := range s.Resources {
		if e.Transfer != nil && e.Transfer.ID == id {
			return true
		}
	}
	return slices.ContainsFunc(s.Transferred, func(t content.Transferred) bool { return t.ID == id })
}

// went reports whether what is transferred under an id has left a state.
func went(s content.Snapshot, id string) bool {
	return slices.ContainsFunc(s.Transferred, func(t content.Transferred) bool { return t.ID == id && t.To != nil })
}

// withPins returns the pins of a state with those that an entry of another one mounts.
func withPins(pins map[string]content.Pin, of content.Snapshot, e content.Entry) map[string]content.Pin {
	one := content.Snapshot{Resources: map[string]content.Entry{"": e}}
	needed := one.NeededPins(of.Pins)
	if len(needed) == 0 {
		return pins
	}
	if pins == nil {
		pins = map[string]content.Pin{}
	}
	for key, pin := range needed {
		pins[key] = pin
	}
	return pins
}

func refuse(summary, format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = diag.Visible(text)
		}
	}
	return diag.Errorf(summary, "%s Nothing was changed.", fmt.Sprintf(format, args...))
}
