package subject

import (
	"maps"

	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/state"
)

// leaveTravelling leaves what is being transferred between two states: neither acts on it.
func (s *Subject) leaveTravelling() {
	list := s.Prior.Travels()
	if len(list) == 0 {
		return
	}
	left := maps.Clone(s.Selection.Unreached)
	if left == nil {
		left = map[string]*reason.Reason{}
	}
	for _, addr := range list {
		if left[addr] == nil {
			left[addr] = Travelling(*s.Prior.Resources[addr].Transfer)
		}
	}
	s.Selection.Unreached = left
}

// Travelling returns why nobody acts on an entry that is being transferred.
func Travelling(t state.Transfer) *reason.Reason {
	code, other := reason.Leaving, t.Other()
	if t.From != nil {
		code = reason.Arriving
	}
	return reason.New(code, diag.Visible(other.State), other.Address)
}
