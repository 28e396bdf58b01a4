package state

import (
	"bytes"
	"encoding/json"
	"os"

	"deployster/internal/base/diag"
	"deployster/state/place"
)

// TakeOver writes the state of another place, with its copies, to this place, which must
// be empty or have this very state from an interrupted move. It returns the number of
// copies that it wrote, and the serials of the copies that it left out: they cannot be
// read, or are later than the state.
func (s *Store) TakeOver(from *Store) (copies int, stay []uint64, err error) {
	if s.snapshot.Lineage != "" && (s.snapshot.Lineage != from.snapshot.Lineage || s.snapshot.Serial > from.snapshot.Serial) {
		return 0, nil, refuse(os.ErrExist, "There is a state already",
			"%s has the lineage %s and the serial %d. Nothing was changed. Move that one away, or name another place.", s.at.State,
			s.snapshot.Lineage, s.snapshot.Serial)
	}
	list, err := from.at.copyList()
	if err != nil {
		return 0, nil, err
	}
	for _, file := range list {
		earlier, _, err := from.at.copyOf(file.Serial)
		if file.Serial == from.snapshot.Serial {
			continue // it is the state itself
		}
		if err != nil || file.Serial > from.snapshot.Serial {
			stay = append(stay, file.Serial)
			continue
		}
		if err := s.at.save(earlier); err != nil {
			return 0, nil, err
		}
		if back, _, err := s.at.copyOf(file.Serial); err != nil || !equal(back, earlier) {
			return 0, nil, s.notArrived(err)
		}
		copies++
	}
	if err := s.at.save(from.snapshot); err != nil {
		return 0, nil, err
	}
	back, err := s.at.snapshot()
	if err != nil {
		return 0, nil, err
	}
	if !equal(back, from.snapshot) {
		return 0, nil, s.notArrived(nil)
	}
	s.snapshot = back
	return copies, stay, nil
}

// equal reports whether two states have the same bytes in a file.
func equal(a, b Snapshot) bool {
	one, err := a.Encode()
	two, err2 := b.Encode()
	return err == nil && err2 == nil && bytes.Equal(one, two)
}

func (s *Store) notArrived(err error) error {
	what := "it is not what comes back"
	if err != nil {
		what = err.Error()
	}
	return refuse(ErrDamaged, "The state did not arrive", "It was written to %s, and %s. The old state is as it was.", s.at.State, what)
}

// MovedTo records in a shared state that it has moved to another place.
func (s *Store) MovedTo(to string) error {
	if m, ok := s.at.Backend.(place.Mover); ok {
		return m.Move(to)
	}
	return nil // MoveState marks a file
}

// movedAway returns an error if the file says that its state has moved.
func movedAway(path string, members map[string]json.RawMessage) error {
	var to string
	if members["moved_to"] == nil || json.Unmarshal(members["moved_to"], &to) != nil {
		return nil
	}
	return refuse(ErrForeign, "The state has moved", "%s was moved to %s. Change the manifest or -state. Nothing was changed.", path,
		diag.Visible(to))
}
