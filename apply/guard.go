package apply

import (
	"context"
	"runtime/debug"
	"slices"

	"deployster/apply/report"
	"deployster/internal/base/diag"
	"deployster/plan/order"
)

// guarded does one node. If this program panics in it, the resource fails and nothing
// new is started; what else runs may finish. An action that was in progress then may
// still run.
func (r *run) guarded(ctx context.Context, node string) (out outcome) {
	out.Node = node
	out.Addr, out.What = order.OfNode(node)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		out.fail(report.FailedInternal, diag.Crash(p, debug.Stack(), "Nothing new was started. What was done is in the state file."))
		out.Report.NotAttempted = out.Report.Planned[min(len(out.Report.Completed), len(out.Report.Planned)):]
		if out.running != "" {
			out.Report.Status, out.Report.Failed = Unknown, out.running
		}
		out.Fatal = true
		r.stops.fail(&out)
	}()
	var ended *ResourceEnded
	switch out.What {
	case order.Wait:
		out.declined = !r.steps.identities.Pass(r.barriers[node])
		r.facts.Pass(r.barriers[node])
	case order.Settle:
		out.settled = r.steps.settle(r.groups.Named(node))
		if slices.ContainsFunc(out.settled, func(e report.Ended) bool { return e.Failed() }) {
			out.Report.Status = Error
		}
		return out
	case order.Turn:
	case order.Again:
		r.steps.askAgain(&out)
	default:
		if ended = r.steps.resource(ctx, &out); out.Begun() {
			r.facts.SetBegun(node)
		}
	}
	r.groups.Of(out.Addr).End(node, !out.Failed() && (!out.declined || out.after))
	if out.Failed() && !out.open {
		r.stops.fail(&out)
	}
	if ended != nil { // after the failure counts
		r.options.event(*ended)
	}
	return out
}
