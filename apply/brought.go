package apply

import (
	"deployster/apply/compare"
	"deployster/plan"
	"deployster/protocol"
)

// brought reports whether something that this apply has created, such as a package, has brought an object that was to be created.
func (r *stepRunner) brought(step *plan.Step, addr string, found protocol.Answer) bool {
	return r.queries.Brought(step) && compare.Updates(step.Answer(), found) &&
		(r.options.Allowed == nil || r.options.Allowed(addr, found.Actions))
}
