package state

import (
	"os"
	"slices"

	"deployster/internal/base/diag"
	"deployster/state/content"
	"deployster/state/place"
)

// TakeOver writes the state of another place, with its copies, to this place, which must
// be empty or have this very state from an interrupted move. No command can use it here
// before Arrived. It returns the number of copies that it wrote, and the serials of those
// that it left out: they cannot be read, are later than the state, or exceed what is kept.
func (s *Store) TakeOver(from *Store) (copies int, stay []uint64, err error) {
	arrives := s.snapshot.ArrivesFrom != "" && s.snapshot.Lineage == from.snapshot.Lineage
	if s.snapshot.Lineage != "" && !arrives && !content.Equal(s.snapshot, from.snapshot) {
		return 0, nil, refuse(os.ErrExist, "There is a state already",
			"%s has the lineage %s and the serial %d. Nothing was changed. Move that one away, or name another place.", s.at.State,
			s.snapshot.Lineage, s.snapshot.Serial)
	}
	s.at.arriving = true
	next := from.snapshot.Clone()
	next.ArrivesFrom = from.at.State
	if _, err := s.at.write(next); err != nil {
		return 0, nil, err
	}
	back, err := s.at.snapshot()
	if err != nil {
		return 0, nil, err
	}
	if !content.Equal(back, next) {
		return 0, nil, s.lost(nil)
	}
	s.snapshot = back
	return s.takeCopies(from)
}

// takeCopies brings the copies that have room here, the latest ones.
func (s *Store) takeCopies(from *Store) (copies int, stay []uint64, err error) {
	list, err := from.at.copyList()
	if err != nil {
		return 0, nil, err
	}
	for _, file := range slices.Backward(list) {
		if file.Serial == from.snapshot.Serial {
			continue // it is the state
		}
		earlier, _, err := from.at.copyOf(file.Serial)
		if err != nil || file.Serial > from.snapshot.Serial || copies == s.at.MaxCopies-1 {
			stay = append(stay, file.Serial)
			continue
		}
		data, err := s.at.encrypt(earlier)
		if err == nil {
			err = s.at.WriteCopy(file.Serial, data)
		}
		if err != nil {
			return 0, nil, s.lost(err)
		}
		if back, _, err := s.at.copyOf(file.Serial); err != nil || !content.Equal(back, earlier) {
			return 0, nil, s.lost(err)
		}
		copies++
	}
	slices.Sort(stay)
	return copies, stay, nil
}

// Arrived ends a move: commands can use the state here. The other place must be marked before.
func (s *Store) Arrived() error {
	next := s.snapshot.Clone()
	next.ArrivesFrom = ""
	data, err := s.at.write(next)
	if err == nil {
		err = s.at.WriteCopy(next.Serial, data)
	}
	if err == nil {
		s.snapshot = next
		err = s.at.publish(next)
	}
	return err
}

// notArrived returns the error for a state that is being moved, or whose move was interrupted.
func notArrived(place, from string) error {
	return refuse(ErrArrives, "The state has not arrived",
		"%s is being moved to %s, or the move was interrupted. Nothing was changed. `deployster -state='%s' state move '%s'` finishes it.",
		diag.Visible(from), place, diag.Visible(from), place)
}

// lost returns the error for a state that was written and cannot be read back.
func (s *Store) lost(err error) error {
	what := "it is not what comes back"
	if err != nil {
		what = err.Error()
	}
	return refuse(ErrDamaged, "The state did not arrive", "It was written to %s, and %s. The old state was not changed.", s.at.State, what)
}

// MovedTo records in a shared state that it has moved to another place. What was published is removed before: readers of other
// projects, which do not read the state, must not take it for what is published now.
func (s *Store) MovedTo(to string) error {
	if s.snapshot.Exports != nil {
		if err := s.at.RemoveOutputs(); err != nil {
			return refuse(err, "Cannot remove the outputs", "%s: %s. The state was not moved.", s.at.State, err)
		}
	}
	if m, ok := s.at.Backend.(place.Mover); ok {
		return m.Move(to)
	}
	return nil // MoveState marks a file
}
