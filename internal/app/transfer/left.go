package transfer

import (
	"context"
	"errors"
	"strings"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
	"deployster/state/transfer"
)

// Still returns the entries that nobody acts on, with the reasons: those that are being transferred, and those that are
// declared though they belong to another state now. failed returns why another state could not be used.
func Still(s state.Snapshot, m *config.Manifest, failed func(name string) error) map[string]*reason.Reason {
	left := map[string]*reason.Reason{}
	for _, addr := range s.Travels() {
		t := s.Resources[addr].Transfer
		left[addr] = subject.Travelling(*t)
		if err := failed(t.Other().State); err != nil {
			left[addr] = left[addr].With(reason.New(reason.NotBetween, oneLine(err)))
		}
	}
	for _, t := range s.Transferred {
		_, recorded := s.Resources[t.Address]
		if t.To != nil && !recorded && declares(m, t.Address) {
			left[t.Address] = reason.New(reason.Went, t.To.State, t.To.Address)
		}
	}
	return left
}

// declares reports whether a manifest declares a resource, or may do so.
func declares(m *config.Manifest, addr string) bool {
	if m == nil {
		return false
	}
	for _, p := range m.Pending() {
		if moves.Covers(p.Address, addr) {
			return true
		}
	}
	return m.Resource(addr) != nil
}

// Foreseen is Left for a command that locks nothing: it reads the states that removed blocks name.
func Foreseen(ctx context.Context, w *workspace.Workspace, place state.Place, s state.Snapshot,
	m *config.Manifest) map[string]*reason.Reason {
	left := Still(s, m, func(string) error { return nil })
	checks := map[string]func(string) error{}
	for addr, name := range given(w, m, s) {
		if checks[name] == nil {
			checks[name] = look(ctx, w, transfer.End{Side: read{s: s}, Name: place.String()}, name)
		}
		if err := checks[name](addr); err != nil {
			left[addr] = reason.New(reason.GoesLater, name, oneLine(err))
		}
	}
	return left
}

// Await returns a state that is only read with what was announced to it.
func Await(w *workspace.Workspace, place state.Place, s state.Snapshot) (state.Snapshot, error) {
	coming, err := state.AnnouncedAt(place, w.Keys)
	return transfer.Awaited(s, coming), err
}

// look reads another state, and returns a function that checks whether an entry can be given to it.
func look(ctx context.Context, w *workspace.Workspace, from transfer.End, name string) func(addr string) error {
	there, err := state.Beside(w.Place(name), w.OtherKeys())
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return func(string) error { return err }
	}
	to := transfer.End{Side: there, Name: name}
	return func(addr string) error { return checkOne(w, from, to, addr) }
}

// checkOne returns why an entry cannot be given to another state.
func checkOne(w *workspace.Workspace, from, to transfer.End, addr string) error {
	if err := mayTravel(w, to); err != nil {
		return err
	}
	return transfer.Check(from, to, same([]string{addr}))
}

// same returns the moves of entries that keep their addresses.
func same(addresses []string) (list []moves.Move) {
	for _, addr := range addresses {
		list = append(list, moves.Move{From: addr, To: addr})
	}
	return list
}

// read is the state of a command that only reads.
type read struct {
	transfer.Side // nil: nothing is announced to it, or replaces it
	s             state.Snapshot
}

func (r read) Snapshot() state.Snapshot { return r.s }

// mayTravel refuses to write what is encrypted into a state that does not exist yet: only its own project knows its keys.
func mayTravel(from *workspace.Workspace, to transfer.End) error {
	if from.Keys.Encrypts() && to.Snapshot().Lineage == "" {
		return diag.Errorf("There is no state yet",
			"%s does not exist, and this state is encrypted: apply there first, so that the keys of that "+
				"project are used. Nothing was changed.", to.Name)
	}
	return nil
}

// removedBlock returns the block that covers an address, the most specific if there are several; nil = none.
func removedBlock(blocks []config.Removed, addr string) (found *config.Removed) {
	for _, block := range blocks {
		if moves.Covers(block.From, addr) && (found == nil || len(block.From) > len(found.From)) {
			found = &block
		}
	}
	return found
}

func oneLine(err error) string { return diag.Visible(strings.Join(strings.Fields(err.Error()), " ")) }
