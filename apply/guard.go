package apply

import (
	"context"
	"runtime/debug"

	"deployster/internal/base/diag"
	"deployster/plan/order"
)

// guarded does one node. If this program panics in it, the resource fails and nothing
// new is started; what else runs may finish. An action that was in progress then may
// still run.
func (r *run) guarded(ctx context.Context, node string) (out outcome) {
	out.node = node
	out.addr, out.what = order.OfNode(node)
	out.old = out.what == order.Old
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		out.fail(failedInternal, diag.Crash(p, debug.Stack(), "Nothing new was started. What was done is in the state file."))
		out.report.NotAttempted = out.report.Planned[min(len(out.report.Completed), len(out.report.Planned)):]
		if out.running != "" {
			out.report.Status, out.report.Failed = Unknown, out.running
		}
		out.fatal = true
		r.stops.fail(&out)
	}()
	switch out.what {
	case order.Wait:
		out.declined = !identities{r}.pass(r.barriers[node])
		r.facts.Pass(r.barriers[node])
	case order.Again:
		asker{r}.askAgain(&out)
	default:
		if r.resource(ctx, &out); out.begun() {
			r.facts.SetBegun(node)
		}
	}
	if out.failed() {
		r.stops.fail(&out)
	}
	out.incomplete = nil // all outcomes are kept until the end, and the entry is large
	return out
}
