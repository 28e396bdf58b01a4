package state

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/artifact"
	"deployster/state/actions"
)

// Unknown are the addresses of resources with an action whose end is not known,
// sorted.
func (s Snapshot) Unknown() (addresses []string) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Unsettled)), func(addr string) bool { return len(s.Unsettled[addr].Open()) == 0 })
}

// Unexplained are the addresses of resources with an action of which it is not known
// how it ended or what it made, sorted.
func (s Snapshot) Unexplained() (addresses []string) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Unsettled)), func(addr string) bool { return len(s.Unsettled[addr].Names()) == 0 })
}

// Settle records how an action ended of which that was not known: the process
// that had started it did not live to see it. See Snapshot.Settled.
func (s *Store) Settle(addr, key string, exit *int, memory json.RawMessage) error {
	if _, ok := s.snapshot.Unsettled[addr]; !ok {
		return nil
	}
	return s.Replace(s.snapshot.Settled(addr, key, exit, memory))
}

// Settled gives the state in which it is known how an action ended. A nil exit says
// that it was never begun; memory is what it said that is to be remembered, null for
// nothing, nil when it said nothing.
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

// Judged gives the state in which a person has said how the open actions of a
// resource ended.
func (s Snapshot) Judged(addr string, as actions.Verdict) Snapshot {
	next := s.clone()
	if u, ok := next.Unsettled[addr]; ok {
		next.Unsettled[addr] = u.Judged(as)
	}
	return next
}

// Answered is a snapshot with what a put has said that another command began.
func (s Snapshot) Answered(addr string, answer *artifact.Put) Snapshot {
	next := s.clone()
	if u, ok := next.Unsettled[addr]; ok {
		next.Unsettled[addr] = u.Answered(answer)
	}
	return next
}

// leave puts down what is not known of a resource, if anything.
func (s *Snapshot) leave(addr string, u actions.Unsettled) {
	if left, any := u.Left(); any {
		s.Unsettled[addr] = left
	} else {
		delete(s.Unsettled, addr)
	}
}

// remember takes down what an action said of its resource; nil = it said nothing.
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

// ended notes how it ended; nil = it was not started at all.
func (s *Snapshot) ended(r record, exit *int) {
	s.leave(r.Address, s.Unsettled[r.Address].Ended(r.Action, r.Key, exit, r.Memory != nil))
}

// put brings what is recorded of a put into the snapshot.
func (s *Snapshot) put(r record) {
	if u, ok := s.Unsettled[r.Address]; ok {
		u.Put = r.Put
		s.Unsettled[r.Address] = u
	}
}
