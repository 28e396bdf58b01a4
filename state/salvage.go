package state

import (
	"bytes"
	"errors"

	"deployster/internal/base/encryption"
	"deployster/state/place"
)

// isSalvaged reports whether the state was locked although it is damaged, so that its journal may have gaps.
func (s storage) isSalvaged() bool {
	b, ok := s.Backend.(place.Salvager)
	return ok && b.Salvaged()
}

// isDamaged reports whether an error reports that a shared state is damaged. A state in a file is repaired by hand.
func (s storage) isDamaged(err error) bool {
	_, shared := s.Backend.(place.Salvager)
	return shared && errors.Is(err, ErrDamaged)
}

// salvage returns what can be read of a damaged state: its entries and lineage if its object is whole, and the open actions of that and of
// the journal. Its serial is the highest that is known.
func (s storage) salvage() Snapshot {
	base, err := s.snapshot()
	if err != nil {
		base = Snapshot{Format: Format}.Clone()
	}
	if list, err := s.copyList(); err == nil {
		for _, c := range list {
			base.Serial = max(base.Serial, c.Serial)
		}
	}
	if data, there, err := s.journalBytes(); err == nil && there {
		base = base.Clone()
		s.salvageJournal(&base, data)
	}
	if s.AtLarge() {
		base = base.Hold(s.Machine)
	}
	return base
}

// salvageJournal applies the records that can be read to the open actions of a snapshot. Records in a gap are missing: an action stays open
// unless a record shows its end, or that its resource was settled.
func (s storage) salvageJournal(base *Snapshot, data []byte) {
	var b begin
	var stream *encryption.Stream
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		r, ok := decodeLine(line)
		if !ok {
			continue
		}
		if r.Head != nil {
			stream, _ = s.keys.OpenStream(encryption.Journal, s.Journal, *r.Head) // nil: what is encrypted with it cannot be read
		}
		if r.Encrypted != nil {
			if stream == nil {
				continue
			}
			opened, err := openRecord(r, stream)
			if err != nil {
				continue
			}
			r = opened
		}
		switch r.Kind {
		case kindBegin:
			b = *r.Begin
			base.Serial = max(base.Serial, b.Serial)
		case kindStarted:
			r.start(base, b)
			if _, known := base.Resources[r.Address]; !known && r.Entry != nil {
				base.Resources[r.Address] = *r.Entry
			}
		case kindEnded:
			r.end(base, r.Exit)
		case kindValid, kindRemoved:
			delete(base.Unsettled, r.Address)
		}
	}
}
