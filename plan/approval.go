package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/plan/observe"
	"deployster/protocol"
)

// WithAnswer returns the step as a plan would show it with what became known during the
// apply: the config and the answer of its image. Sensitive are pointers into the config,
// and hidden are pointers into the state of the answer, to values that must not be shown.
func (s *Step) WithAnswer(config json.RawMessage, sensitive []string, a protocol.Answer, hidden []string) *Step {
	now := *s
	now.Config, now.Sensitive, now.Staying, now.Unknown = config, sensitive, nil, nil
	now.MayChange, now.Early, now.Again = false, false, false
	if p, destroys := s.Part.(*DestroyPart); destroys {
		now.Part = &DestroyPart{Answer: answerOf(a, hidden), NotMade: p.NotMade, Today: p.Today}
		return &now
	}
	now.Reason, now.Part = "", partWith(observe.Of(a.Status, s.Intent(), s.Publishes), answerOf(a, hidden))
	if p, updates := now.Part.(*UpdatePart); updates {
		p.NotMade = s.NotMade()
	}
	return &now
}

// Kind returns the kind of change that somebody has to approve: a change with an action
// that destroys the existing thing is a replacement.
func (s *Step) Kind() Change {
	if slices.Contains([]Change{Create, Update, Deferred}, s.Change()) && protocol.Destructive(s.Answer().Shutdown, s.Answer().Actions) != "" {
		return Replace
	}
	return s.Change()
}

// Shown returns the change as it is shown to people and counted.
func (s *Step) Shown() Change {
	if s.Change() == Update {
		return s.Kind()
	}
	return s.Change()
}

// Kinds lists the addresses by the kind of change that somebody has to approve. Valid
// resources need no approval, but one that may change counts as an update. What changes
// only the state file, such as a move or an output, needs no approval either.
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
		if step := p.Resources[addr]; step.Flexible() && !step.Again && !step.ReadOnly {
			open = append(open, addr)
		}
	}
	return open
}
