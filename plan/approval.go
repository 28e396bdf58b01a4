package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/protocol"
)

// WithAnswer is the step as a plan would show it that knew what became known during
// the apply: the config and the answer of its image. Hidden are the pointers into the
// state in that answer of what must not be shown.
func (s *Step) WithAnswer(config json.RawMessage, sensitive []string, a protocol.Answer, hidden []string) *Step {
	now := *s
	now.Config, now.Sensitive, now.Hidden, now.Staying = config, sensitive, hidden, nil
	now.Expected, now.Was, now.Unknown, now.MayChange, now.Adopted, now.Drifted, now.Reason = "", nil, nil, false, false, false, ""
	now.Old = nil // what is replaced has been destroyed when its turn comes to be made
	now.take(a)
	if s.Intent() == protocol.Absent {
		now.Change, now.Reason = s.Change, s.Reason
	}
	return &now
}

// Kind is the kind of change that somebody has to say yes to: what is done by an action
// that destroys what is there is a replacement.
func (s *Step) Kind() Change {
	if slices.Contains([]Change{Create, Update, Deferred}, s.Change) && protocol.Destructive(s.Shutdown, s.Actions) != "" {
		return Replace
	}
	return s.Change
}

// Shown is the change as people are shown it, and as it is counted.
func (s *Step) Shown() Change {
	if s.Change == Update {
		return s.Kind()
	}
	return s.Change
}

// Kinds lists the addresses by the kind of change that somebody has to say yes to:
// Valid ones need none, but one that may change may turn out to be an update. What only
// the state file has to be told, such as a move or an output, needs none either.
func (p *Plan) Kinds() map[Change][]string {
	kinds := map[Change][]string{}
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		kind := step.Kind()
		switch {
		case kind == Valid && step.MayChange:
			kind = Update
		case kind == Deferred && step.ReadOnly, kind == Valid || kind == Record || kind == Left || kind == ReadFailed:
			continue
		}
		kinds[kind] = append(kinds[kind], addr)
	}
	return kinds
}

// LeftOpen lists the resources whose actions the plan cannot promise, sorted.
func (p *Plan) LeftOpen() []string {
	var open []string
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		if step := p.Resources[addr]; step.Flexible() && !step.ReadOnly {
			open = append(open, addr)
		}
	}
	return open
}
