package state

import (
	"bytes"
	"slices"

	"deployster/internal/base/diag"
	"deployster/state/actions"
	"deployster/state/place"
)

// continueJournal adds to the journal of the state what a journal on this machine has
// beyond it: facts of a run that could not be brought there any more.
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

// settleLeft takes from the journals on this machine how actions ended, where nobody
// else could know, and removes them. Nothing else in them matters: states are asked.
func (s *Store) settleLeft() (warnings diag.Diagnostics) {
	for _, left := range s.at.LeftJournals(s.snapshot.Lineage) {
		if err := s.settleOne(left); err != nil {
			warnings = append(warnings, diag.Warningf("A journal of this machine was left as it is", "%s: %s", left.Name, err))
			continue
		}
		_ = left.Remove() // the next command does it
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
	keys := map[[2]string]string{} // of the last start
	for _, r := range records {
		at := [2]string{r.Address, r.Action}
		switch r.Kind {
		case kindStarted:
			keys[at] = r.Key
		case kindEnded:
			if next.isOpen(r.Address, keys[at]) {
				next, found = next.Settled(r.Address, keys[at], r.Exit, r.Memory), true
			}
		}
	}
	if !found {
		return nil
	}
	return s.Replace(next) // once: each time keeps a copy of the state, and lets an older one go
}

// isOpen says that nobody knows how an action ended.
func (s Snapshot) isOpen(addr, key string) bool {
	return slices.ContainsFunc(s.Unsettled[addr].Open(), func(a actions.Attempt) bool { return a.Key == key })
}

// hold marks what may still run on another machine, which was taken over and is not
// known to be dead. What was begun on a host is not held: the host tells how it ended to
// whoever has the state, and lets nobody act who had it before.
func (s Snapshot) hold(machine string) Snapshot {
	for addr, u := range s.Unsettled {
		if len(u.Open()) > 0 && u.By.Machine != machine && s.Resources[addr].Settings.Host == nil {
			u.Held = true
			s.Unsettled[addr] = u
		}
	}
	return s
}

// OnHold are the addresses of what may still run on another machine than the one that
// uses the state at a place, sorted. A state in a file is of one machine.
func (s Snapshot) OnHold(at Place) (addresses []string) {
	here, shared := at.(*Remote)
	for _, addr := range s.Unknown() {
		if u := s.Unsettled[addr]; shared && u.Held && u.By.Machine != here.Machine && s.Resources[addr].Settings.Host == nil {
			addresses = append(addresses, addr)
		}
	}
	return addresses
}
