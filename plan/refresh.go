package plan

// recordOnly makes of what was found what a plan with -refresh-only does about
// it: it goes into the state file. No action is left that could be run.
func (b *builder) recordOnly(addr string, s *Step) {
	entry, known := b.prior.Resources[addr]
	found := s.Change
	s.Actions, s.Shutdown, s.Forecast, s.MayChange, s.Drifted = nil, nil, nil, false, false
	s.Change = Left
	switch {
	case found == Deferred:
		s.Reason += ", so it cannot be asked"
	case found == Create && known && entry.Incomplete():
		s.Change, s.Reason = Forget, "it does not exist: nothing is left of what an apply began to make"
	case found == Create && known:
		s.Change, s.Reason = Forget, "it is gone"
	case found == Create:
		s.Reason = "it does not exist, and nothing is recorded of it"
	case found == Update && !known:
		s.Reason = "it exists, but not as declared, and nothing is recorded of it"
	case found == Update && entry.Incomplete():
		s.Reason = "it exists, but not as declared: " + unfinished
	case found == Update && !entry.Dirty && entry.LastSeen != nil && sameJSON(entry.LastSeen.State, s.Stale):
		s.Reason = "it was found like this before"
	case found == Update:
		s.Change, s.Reason = Record, "it is not as declared"
	case known && !entry.Dirty && entry.LastSeen == nil && entry.Digest == s.Init.Digest && sameJSON(entry.Config, s.Config) && sameJSON(entry.State, s.State):
		s.Change = Valid
	default:
		s.Change = Record
	}
	if s.Change == Record && known && !entry.Incomplete() {
		s.Was = &Was{State: entry.State, Sensitive: entry.Sensitive.State}
		if entry.LastSeen != nil {
			s.Was = &Was{State: entry.LastSeen.State, Sensitive: entry.LastSeen.Sensitive}
		}
	}
}
