package savedplan

import (
	"deployster/plan"
	"deployster/plan/begins"
)

// Lineage returns the lineage of a state that a saved plan begins.
func Lineage(p *plan.Plan) string { return begins.Lineage(p.ID) }
