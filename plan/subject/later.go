package subject

import (
	"deployster/plan/reason"
	"deployster/state/moves"
)

// Defer leaves a block whose instances become known only when the plan is applied, with all that depends on it, and with the
// entries that may be its instances: nothing is done with these.
func (s *Subject) Defer(block string, why *reason.Reason) {
	if s.deferred == nil {
		s.deferred = map[string]*reason.Reason{}
	}
	s.deferred[block] = why
	s.Narrow()
}

// Deferred reports whether an address is that of a block which Defer has left.
func (s *Subject) Deferred(addr string) bool { return s.deferred[addr] != nil }

// Entry reports whether an address that waits for unknown instances is only recorded: nothing declares it, as far as is known.
func (s *Subject) Entry(addr string) bool {
	if s.Manifest.Resource(addr) != nil {
		return false
	}
	for _, p := range s.Manifest.Pending() {
		if p.Address == addr {
			return false
		}
	}
	return true
}

// waitsFor returns why what comes after an address that waits for unknown instances waits too.
func (s *Subject) waitsFor(addr, next string) *reason.Reason {
	if moves.Covers(addr, next) {
		return reason.New(reason.MayBeInstance, addr)
	}
	return reason.New(reason.WaitsForDeferred, addr)
}

// waitsBelow reports whether something that an address covers, or that covers it, waits for unknown instances.
func (s *Subject) waitsBelow(addr string) bool {
	for later := range s.Later {
		if moves.Covers(addr, later) || moves.Covers(later, addr) {
			return true
		}
	}
	return false
}
