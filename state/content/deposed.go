package content

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/state/moves"
)

// Deposed is, in a state file, an entry whose address another object has taken. It is
// stored inside the entry of that address, which is otherwise empty if no object has taken
// the address yet. Snapshot.Resources has it under a key of its own, see DeposedKey.
type Deposed struct {
	Number int `json:"number"` // distinguishes the deposed entries of one address while they are recorded
	Entry
}

// Nested returns what a state file has at an address: its entry, including the deposed
// entries of that address.
func (s Snapshot) Nested(addr string) Entry {
	e := s.Resources[addr]
	for key, deposed := range s.Resources {
		if at, number := moves.RecordedAt(key); number > 0 && at == addr {
			e.Deposed = append(e.Deposed, Deposed{Number: number, Entry: deposed})
		}
	}
	e.sortDeposed()
	return e
}

func (e *Entry) sortDeposed() {
	slices.SortFunc(e.Deposed, func(a, b Deposed) int { return cmp.Compare(a.Number, b.Number) })
}

// nested puts deposed entries into the entries of their addresses, as in a state file.
func nested(flat map[string]Entry) map[string]Entry {
	var out map[string]Entry
	for key, deposed := range flat {
		addr, number := moves.RecordedAt(key)
		if number == 0 {
			continue
		}
		if out == nil {
			out = maps.Clone(flat)
		}
		delete(out, key)
		e := out[addr]
		e.Deposed = append(e.Deposed, Deposed{Number: number, Entry: deposed})
		e.sortDeposed()
		out[addr] = e
	}
	if out == nil {
		return flat
	}
	return out
}

// flatten gives the deposed entries of a state file keys of their own, in place.
func flatten(entries map[string]Entry) error {
	for addr, e := range entries {
		for _, deposed := range e.Deposed {
			key := moves.DeposedKey(addr, deposed.Number)
			if _, twice := entries[key]; twice || deposed.Number < 1 || len(deposed.Deposed) > 0 {
				return fmt.Errorf("resource %s: its deposed entry %d is not one", addr, deposed.Number)
			}
			entries[key] = deposed.Entry
		}
		switch {
		case len(e.Deposed) == 0:
		case e.Type == "":
			delete(entries, addr)
		default:
			e.Deposed = nil
			entries[addr] = e
		}
	}
	return nil
}
