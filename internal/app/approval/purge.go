package approval

import (
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan"
)

// purge is a word of -approve that nothing else includes: what an exclusive set lists, and what is neither
// declared nor kept, is destroyed only with it.
const purge = "purge"

// purges refuses a plan that destroys objects of exclusive sets, unless that was approved when the plan was made, and an
// approval that a saved plan cannot use.
func (a Approval) purges(p *plan.Plan) error {
	if !a.Purge && !(a.saved && p.Selection.Purge) {
		return RefusePurges(p)
	}
	undone := slices.ContainsFunc(p.Exclusive, func(s plan.Exclusive) bool { return len(s.Undone) > 0 && len(s.Held) == 0 })
	if a.saved && a.Purge && !p.Selection.Purge && undone {
		return diag.Errorf("The plan purges nothing", "It was made without -approve=purge, so that it does not show how the objects of "+
			"its exclusive sets are destroyed. Nothing was changed. Plan again with -approve=purge.")
	}
	return nil
}

// RefusePurges is the error about objects of exclusive sets that would be destroyed, where nobody can approve that.
func RefusePurges(p *plan.Plan) error {
	var list []string
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		if step := p.Resources[addr]; step.Exclusive != "" && step.Change() == plan.Destroy {
			list = append(list, addr)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return diag.Errorf("A purge needs an approval of its own", "%s would be destroyed, which an exclusive block lists and which is "+
		"neither declared nor kept. Nothing was changed. Only -approve=purge allows it.", words.List(list, 5))
}
