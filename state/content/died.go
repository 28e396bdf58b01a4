package content

import (
	"maps"
	"slices"
)

// WasApplied reports whether a plan was applied to this state already, completely or in
// part, and returns its last run.
func (s Snapshot) WasApplied(plan string) (Applied, bool) {
	for _, a := range slices.Backward(s.Applied) {
		if a.Plan == plan {
			return a, true
		}
	}
	return Applied{}, false
}

// Died returns the last run of a plan if its process was killed, including everything
// that this run and those that it resumed had recorded. false = the plan was not applied,
// or its run ended by itself.
func (s Snapshot) Died(plan string) (Applied, bool) {
	last, was := s.WasApplied(plan)
	if !was || last.Status != StatusDied {
		return Applied{}, false
	}
	last.Done, last.Begun, last.Failed = map[string]string{}, nil, nil
	for _, a := range s.Applied {
		if a.Plan == plan {
			maps.Copy(last.Done, a.Done)
			last.Moved = last.Moved || a.Moved
			last.Begun, last.Failed = append(last.Begun, a.Begun...), append(last.Failed, a.Failed...)
		}
	}
	return last, true
}
