package stage

import (
	"maps"

	"deployster/internal/app/hosts"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/reason"
)

// apart returns what nobody acts on because of other states, with the reasons, under the addresses of the state and
// of the manifest.
func (o Opened) apart() map[string]*reason.Reason {
	all := maps.Clone(o.left)
	for addr, why := range o.left {
		for _, now := range hosts.Today(o.Manifest, o.Prior, []string{addr}) {
			all[now] = why
		}
	}
	return all
}

// Apart returns the words of what nobody acts on because of other states.
func (o Opened) Apart() map[string]string { return reason.WordsOf(o.apart()) }

// with returns the reasons of a list, and those of another one.
func with(list, other map[string]*reason.Reason) map[string]*reason.Reason {
	if len(other) == 0 {
		return list
	}
	all := maps.Clone(other)
	maps.Copy(all, list)
	return all
}

// keep leaves in a saved plan what it gives to another state that cannot be used now.
func (d Drafted) keep() {
	for addr, step := range d.Plan.Resources {
		if why := d.left[addr]; why != nil && gives(step) != "" {
			step.Part, step.Reason = &change.Left{}, why
			d.Left[addr] = why.Words()
		}
	}
}

// give transfers what the plan gives to other states.
func (a Approved) give() error {
	to := map[string]string{}
	for addr, step := range a.Plan.Resources {
		if state := gives(step); state != "" {
			to[addr] = state
		}
	}
	if len(to) == 0 || a.transfers == nil {
		return nil
	}
	err := a.transfers.Give(to)
	a.transfers.CloseOthers()
	return err
}

// gives returns the state to which a step gives its entry; "" = none.
func gives(step *plan.Step) string {
	if step.Change() == plan.Forget && step.Reason != nil && step.Reason.Code == reason.Goes && len(step.Reason.Refs) > 1 {
		return step.Reason.Refs[1]
	}
	return ""
}
