package state

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/runtime/artifact"
	"deployster/state/actions"
)

// Unknown returns the addresses, sorted, of resources with an action whose outcome is
// unknown.
func (s Snapshot) Unknown() (addresses []string) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Unsettled)), func(addr string) bool { return len(s.Unsettled[addr].Open()) == 0 })
}

// Unexplained returns the addresses, sorted, of resources with an action whose outcome or
// result is unknown.
func (s Snapshot) Unexplained() (addresses []string) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Unsettled)), func(addr string) bool { return len(s.Unsettled[addr].Names()) == 0 })
}

// Settle records the outcome of an action that was unknown, because the process that
// started the action ended before it. See Snapshot.Settled.
func (s *Store) Settle(addr, key string, exit *int, memory json.RawMessage) error {
	if _, ok := s.snapshot.Unsettled[addr]; !ok {
		return nil
	}
	return s.Replace(s.snapshot.Settled(addr, key, exit, memory))
}

// Settled returns the state with the outcome of an action. A nil exit says that the
// action was never begun. memory is the memory that it reported, null for none, nil if it
// reported nothing.
func (s Snapshot) Settled(addr, key string, exit *int, memory json.RawMessage) Snapshot {
	next := s.clone()
	if u, ok := next.Unsettled[addr]; ok {
		u, open := u.Settled(key, exit, memory != nil)
		if open {
			next.remember(addr, memory)
		}
		next.leave(addr, u)
	}
	return next
}

// Judged returns the state with the outcome of the open actions of a resource, as a
// person has stated it.
func (s Snapshot) Judged(addr string, as actions.Verdict) Snapshot {
	next := s.clone()
	if u, ok := next.Unsettled[addr]; ok {
		next.Unsettled[addr] = u.Judged(as)
	}
	return next
}

// Answered returns a snapshot with the answer of a put that another command began.
func (s Snapshot) Answered(addr string, answer *artifact.Put) Snapshot {
	next := s.clone()
	if u, ok := next.Unsettled[addr]; ok {
		next.Unsettled[addr] = u.Answered(answer)
	}
	return next
}

// leave records what is still unknown of a resource, if anything.
func (s *Snapshot) leave(addr string, u actions.Unsettled) {
	if left, any := u.Left(); any {
		s.Unsettled[addr] = left
	} else {
		delete(s.Unsettled, addr)
	}
}

// remember records the memory that an action reported; nil = it reported nothing.
func (s *Snapshot) remember(addr string, memory json.RawMessage) {
	e, known := s.Resources[addr]
	if !known || memory == nil {
		return
	}
	if e.Memory = memory; string(memory) == "null" {
		e.Memory = nil
	}
	s.Resources[addr] = e
}

// started notes that an action was started on a resource.
func (s *Snapshot) started(r record, b begin) {
	a := actions.Attempt{Action: r.Action, Key: r.Key, Started: r.Time, Silent: r.Remembers}
	s.Unsettled[r.Address] = s.Unsettled[r.Address].Started(b.Plan, b.By, a)
}

// ended notes the exit code of an action; nil = it was not started at all.
func (s *Snapshot) ended(r record, exit *int) {
	s.leave(r.Address, s.Unsettled[r.Address].Ended(r.Action, r.Key, exit, r.Memory != nil))
}

// put adds the record of a put to the snapshot.
func (s *Snapshot) put(r record) {
	if u, ok := s.Unsettled[r.Address]; ok {
		u.Put = r.Put
		s.Unsettled[r.Address] = u
	}
}
