package turns

import (
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/order"
)

// Where reports where the work of a node is done.
func Where(p *plan.Plan, node string) order.Location {
	addr, what := order.OfNode(node)
	step := p.Resources[addr]
	if step != nil && what == order.Old {
		step = step.Old()
	}
	if step == nil || what == order.Wait {
		return order.Location{Nowhere: true}
	}
	return order.At(&step.Init, &step.Settings)
}

// HostOf names the host of a resource; "" = this machine.
func HostOf(p *plan.Plan, addr string) string {
	if step := p.Resources[addr]; step != nil {
		return HostName(step)
	}
	return ""
}

// HostName names the host of a step; "" = this machine.
func HostName(s *plan.Step) string { return runner.NameOf(s.Settings.Host) }
