package content

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

// Settled returns the state with the outcome of an action. A nil exit reports that the
// action was never begun. memory is the memory that it reported, null for none, nil if it
// reported nothing.
func (s Snapshot) Settled(addr, key string, exit *int, memory json.RawMessage) Snapshot {
	next := s.Clone()
	if u, ok := next.Unsettled[addr]; ok {
		u, open := u.Settled(key, exit, memory != nil)
		if open {
			next.Remember(addr, memory)
		}
		next.Leave(addr, u)
	}
	return next
}

// Judged returns the state with the outcome of the open actions of a resource, as a
// person has stated it.
func (s Snapshot) Judged(addr string, as actions.Verdict) Snapshot {
	next := s.Clone()
	if u, ok := next.Unsettled[addr]; ok {
		next.Unsettled[addr] = u.Judged(as)
		next.endOperation(addr)
	}
	return next
}

// Answered returns a snapshot with the answer of a put that another command began.
func (s Snapshot) Answered(addr string, answer *artifact.Put) Snapshot {
	next := s.Clone()
	if u, ok := next.Unsettled[addr]; ok {
		next.Unsettled[addr] = u.Answered(answer)
	}
	return next
}

// Leave records what is still unknown of a resource, if anything.
func (s *Snapshot) Leave(addr string, u actions.Unsettled) {
	if left, any := u.Left(); any {
		s.Unsettled[addr] = left
		s.endOperation(addr)
	} else {
		delete(s.Unsettled, addr)
	}
}

// Remember records the memory that an action reported; nil = it reported nothing.
func (s *Snapshot) Remember(addr string, memory json.RawMessage) {
	e, known := s.Resources[addr]
	if !known || memory == nil {
		return
	}
	if e.Memory = memory; string(memory) == "null" {
		e.Memory = nil
	}
	s.Resources[addr] = e
}

// Start notes that an action of a plan was started on a resource.
func (s *Snapshot) Start(addr, plan string, by actions.By, a actions.Attempt) {
	s.Unsettled[addr] = s.Unsettled[addr].Started(plan, by, a)
}

// End notes the exit code of an action, and whether it reported a memory; nil = it was not
// started at all.
func (s *Snapshot) End(addr, action, key string, exit *int, remembers bool) {
	s.Leave(addr, s.Unsettled[addr].Ended(action, key, exit, remembers))
}

// Put notes a put on a resource with unsettled actions.
func (s *Snapshot) Put(addr string, put *actions.Put) {
	if u, ok := s.Unsettled[addr]; ok {
		u.Put = put
		s.Unsettled[addr] = u
	}
}
