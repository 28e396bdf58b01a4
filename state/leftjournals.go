package state

import (
	"bytes"

	"deployster/internal/base/diag"
	"deployster/state/place"
)

// continueJournal appends to the journal of the state what a journal on this machine has
// beyond it: facts of a run that could no longer send them to the state's store.
func (s *Store) continueJournal() error {
	there, _, err := s.at.journalBytes()
	if err != nil || len(there) == 0 {
		return err
	}
	for _, left := range s.at.LeftJournals(s.snapshot.Lineage) {
		data, err := left.Read()
		if err != nil || !bytes.HasPrefix(data, there) {
			continue
		}
		records, dropped, err := decodeJournal(data)
		tail := data[len(there):]
		if dropped = min(dropped, len(tail)); err != nil || len(records) == 0 || dropped == len(tail) {
			continue
		}
		return left.Adopt(s.at.Run(), tail[:len(tail)-dropped])
	}
	return nil
}

// settleLeft takes from the journals on this machine how actions ended, if no other source
// knows it, and removes the journals. Nothing else in them matters: images report the states.
func (s *Store) settleLeft() (warnings diag.Diagnostics) {
	for _, left := range s.at.LeftJournals(s.snapshot.Lineage) {
		if err := s.settleOne(left); err != nil {
			warnings = append(warnings, diag.Warningf("A journal of this machine was not changed", "%s: %s", left.Name, err))
			continue
		}
		_ = left.Remove() // if it fails, the next command removes it
	}
	return warnings
}

func (s *Store) settleOne(left place.LeftJournal) error {
	data, err := left.Read()
	if err != nil {
		return err
	}
	records, _, err := decodeJournal(data)
	if err == nil {
		records, err = openRecords(s.at, records)
	}
	if err != nil {
		return err
	}
	next, found := s.snapshot, false
	keys := map[[2]string]string{} // of the last start of each action
	for _, r := range records {
		at := [2]string{r.Address, r.Action}
		switch r.Kind {
		case kindStarted:
			keys[at] = r.Key
		case kindEnded:
			if next.IsOpen(r.Address, keys[at]) {
				next, found = next.Settled(r.Address, keys[at], r.Exit, r.Memory), true
			}
		}
	}
	if !found {
		return nil
	}
	return s.Replace(next) // once for all: each call keeps a copy of the state and may remove an older one
}
