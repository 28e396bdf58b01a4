package turns

import (
	"deployster/plan"
	"deployster/plan/order"
)

// Where says where the work of a node is done.
func Where(p *plan.Plan, node string) order.Where {
	addr, what := order.OfNode(node)
	step := p.Resources[addr]
	if step != nil && what == order.Old {
		step = step.Old()
	}
	if step == nil || what == order.Wait {
		return order.Where{Nowhere: true}
	}
	return order.At(&step.Init, &step.Settings)
}
