package transfer

import (
	"fmt"
	"maps"
	"slices"

	"deployster/apply/fresh"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/transfer"
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

// GivePlanned transfers what a plan gives to other states, and unlocks them. What it would give to states that are in use is announced
// to them, and begins to leave. It refuses a plan that does not know what comes here from other states.
func (l *Locked) GivePlanned(p *plan.Plan) error {
	if l == nil {
		return nil
	}
	if err := l.listen(); err != nil {
		return err
	}
	if err := l.Unknown(p); err != nil {
		return err
	}
	to, later := map[string]string{}, map[string]string{}
	for addr, step := range p.Resources {
		if state := gives(step); state != "" {
			to[addr] = state
		} else if state := givesLater(step.Reason); state != "" { // as Keep has left it
			later[addr] = state
		}
	}
	for addr, why := range p.Unreached {
		if state := givesLater(why); state != "" {
			later[addr] = state
		}
	}
	defer l.CloseOthers()
	l.announce(later)
	return l.Give(to)
}

// Unknown refuses a plan that was made before what comes from another state was announced: it may make or adopt that.
func (l *Locked) Unknown(p *plan.Plan) error {
	stored := l.Store.Snapshot()
	for addr, e := range l.Snapshot().Resources {
		_, recorded := stored.Resources[addr]
		if t := e.Transfer; !recorded && t != nil && !knows(p, *t) {
			return fresh.Stale(fmt.Sprintf("it does not know that %s is still in %s, as %s, which gives it to this state",
				config.Reference(addr), diag.Visible(t.From.State), config.Reference(t.From.Address)), "Plan again.")
		}
	}
	return nil
}

// knows reports whether a plan leaves what arrives by a transfer.
func knows(p *plan.Plan, t state.Transfer) bool {
	arrives := subject.Travelling(t)
	for _, r := range p.Unreached {
		if r.Code == arrives.Code && slices.Equal(r.Refs, arrives.Refs) {
			return true
		}
	}
	return false
}

// announce reports to other states that are not locked what comes to them. It begins to leave here: whichever project can lock both states
// first finishes the transfer. What cannot be announced, or given, stays, as the plan has shown.
func (l *Locked) announce(to map[string]string) {
	for _, addr := range slices.Sorted(maps.Keys(to)) {
		name := to[addr]
		if _, err := l.end(name); err == nil {
			continue // it is locked, and cannot be given for another reason
		}
		side, err := state.Beside(l.w.Place(name), l.w.OtherKeys())
		there := transfer.End{Side: side, Name: name}
		if err == nil {
			err = mayTravel(l.w, there)
		}
		if err == nil {
			err = transfer.Begin(l.self(), there, same([]string{addr}), l.w.Started)
		}
		if err != nil {
			l.w.Warn(diag.Warningf("The other project does not know what it will get", "%s: %s. Until it does, it may make or adopt %s.",
				diag.Visible(name), oneLine(err), config.Reference(addr)))
		}
	}
}

// givesLater returns the state to which an entry that is left unchanged is to be given; "" = none.
func givesLater(why *reason.Reason) string {
	if why != nil && why.Code == reason.GoesLater && len(why.Refs) > 0 {
		return why.Refs[0]
	}
	return ""
}

// gives returns the state to which a step gives its entry; "" = none.
func gives(step *plan.Step) string {
	if step.Change() == plan.Forget && step.Reason != nil && step.Reason.Code == reason.Goes && len(step.Reason.Refs) > 1 {
		return step.Reason.Refs[1]
	}
	return ""
}
