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
	case found == Create && known && entry.Begun():
		s.Change, s.Reason = Forget, "it does not exist: nothing is left of what an apply began to make"
	case found == Create && known:
		s.Change, s.Reason = Forget, "it is gone"
	case found == Create:
		s.Reason = "it does not exist, and nothing is recorded of it"
	case found == Update && !known:
		s.Reason = "it exists, but not as declared, and nothing is recorded of it"
	case found == Update && entry.Begun():
		s.Reason = "it exists, but not as declared: " + unfinished
	case found == Update && !entry.Touched && entry.Found != nil && sameJSON(entry.Found.State, s.Stale):
		s.Reason = "it was found like this before"
	case found == Update:
		s.Change, s.Reason = Record, "it is not as declared"
	case known && !entry.Touched && entry.Found == nil && entry.Digest == s.Init.Digest && sameJSON(entry.Config, s.Config) && sameJSON(entry.State, s.State):
		s.Change = Valid
	default:
		s.Change = Record
	}
	if s.Change == Record && known && !entry.Begun() {
		s.Was = &Was{State: entry.State, Sensitive: entry.Sensitive.State}
		if entry.Found != nil {
			s.Was = &Was{State: entry.Found.State, Sensitive: entry.Found.Sensitive}
		}
	}
}
