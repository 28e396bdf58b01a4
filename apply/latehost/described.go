package latehost

import (
	"strings"

	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/protocol"
)

// described returns a step with its type, if the plan could not know that. It refuses a type that needs what the plan would
// have had to show or to compare; the next plan knows the answer.
func (h *Hosts) described(step plan.Step, addr string) (*plan.Step, error) {
	if !step.Undescribed() {
		return &step, nil
	}
	ty, err := h.known.Client.Init(h.work, step.Target(addr))
	if err != nil {
		return nil, &QueryError{err}
	}
	if has := unplanned(ty); len(has) > 0 {
		return nil, diag.Errorf("The plan could not show what a type needs",
			"No machine could run the init of %s when the plan was made. It was run now, and the type has %s. Nothing was done. Plan "+
				"and apply again: the answer is kept.", diag.Visible(step.Type),
			strings.Join(has, " and "))
	}
	step.Init = ty
	h.known.Facts.SetType(addr, ty)
	return &step, nil
}

// unplanned lists what a type has that only a plan can grant or compare.
func unplanned(ty protocol.Type) (has []string) {
	if len(ty.Plugs) > 0 {
		has = append(has, "plugs")
	}
	if len(ty.Needs) > 0 {
		has = append(has, "needs")
	}
	if len(ty.Identity) > 0 {
		has = append(has, "an identity")
	}
	return has
}
