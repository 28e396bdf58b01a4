package transfer

import (
	"maps"

	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/reason"
)

// Reasons are why entries are unchanged, by address.
type Reasons map[string]*reason.Reason

// Words returns the reasons in words.
func (r Reasons) Words() map[string]string { return reason.WordsOf(r) }

// Leave makes a selection leave these entries, too.
func (r Reasons) Leave(s *plan.Selection) {
	if len(r) == 0 {
		return
	}
	all := maps.Clone(r)
	maps.Copy(all, s.Unreached)
	s.Unreached = all
}

// Keep leaves in a saved plan what it gives to another state that cannot be used now, and adds the reasons to left.
func (r Reasons) Keep(p *plan.Plan, left map[string]string) {
	for addr, step := range p.Resources {
		if why := r[addr]; why != nil && gives(step) != "" {
			step.Part, step.Reason = &change.Left{}, why
			left[addr] = why.Words()
		}
	}
}

// GivePlanned transfers what a plan gives to other states, and unlocks them.
func (l *Locked) GivePlanned(p *plan.Plan) error {
	to := map[string]string{}
	for addr, step := range p.Resources {
		if state := gives(step); state != "" {
			to[addr] = state
		}
	}
	if len(to) == 0 || l == nil {
		return nil
	}
	defer l.CloseOthers()
	return l.Give(to)
}

// gives returns the state to which a step gives its entry; "" = none.
func gives(step *plan.Step) string {
	if step.Change() == plan.Forget && step.Reason != nil && step.Reason.Code == reason.Goes && len(step.Reason.Refs) > 1 {
		return step.Reason.Refs[1]
	}
	return ""
}
