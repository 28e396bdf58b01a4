package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/state"
)

// conclude puts the outcomes into the report, and records the outputs. err is what ended the
// apply before anything was done; nil = nothing.
func (r *run) conclude(ctx context.Context, report *Report, err error) error {
	fatal := errors.Join(err, r.collect(report))
	whyNotStarted(ctx, r, report)
	sumHosts(r, report)
	leave(r, report)
	unseen := removals{r.plan, r.died.Plan != ""}.unseen(report, r.ended)
	stopped := ctx.Err() != nil && (report.Counts()[NotStarted] > 0 || unseen)
	report.settle(stopped, fatal != nil || failures(report))
	if report.Whole() && fatal == nil {
		fatal = r.outputs(report)
	}
	r.checks(report)
	return fatal
}

// leave adds to a report what the plan leaves out because of hosts, with the reasons.
func leave(r *run, report *Report) {
	for addr, why := range r.options.Left {
		on := r.prior.Resources[addr].Settings.Host
		if declared := r.manifest.Resource(addr); declared != nil {
			on = declared.Settings.Host
		}
		host := runner.NameOf(on)
		report.Resources[addr] = &ResourceReport{Host: host, Status: Left, Reason: why}
		if report.Hosts[host].Status == OK {
			report.Hosts[host] = HostReport{Status: Left, Reason: addr + ": " + why}
		}
	}
}

// failures reports whether a report has an error of something else than a resource that was
// not started: an error of such a resource says why not.
func failures(report *Report) bool {
	return slices.ContainsFunc(report.Problems, func(d *diag.Diagnostic) bool {
		res := report.Resources[d.Address]
		return d.Severity == diag.Error && (res == nil || res.Status != NotStarted)
	})
}

// collect puts the outcomes into the report, and the resources that were not started.
// The error is that of the journal, or of a failure of this program.
func (r *run) collect(report *Report) error {
	var fatal error
	report.Shutdown = r.shutdowns
	ended := make([]*outcome, len(r.ended)) // pointers are sorted, as an outcome is large
	for i := range r.ended {
		ended[i] = &r.ended[i]
	}
	for _, out := range ended {
		if out.fatal {
			fatal = out.problem
		}
	}
	lost := slices.DeleteFunc(slices.Clone(ended), func(o *outcome) bool { return o.what != order.Again || !o.failed() })
	ended = slices.DeleteFunc(ended, func(o *outcome) bool { return o.what == order.Again })
	slices.SortStableFunc(ended, func(a, b *outcome) int { return cmp.Compare(a.addr, b.addr) })
	for _, out := range ended {
		res := out.report
		if end := report.Resources[out.addr]; end != nil { // the end of its old thing came first
			res.Planned, res.Completed = slices.Concat(end.Planned, res.Planned), slices.Concat(end.Completed, res.Completed)
		}
		report.Resources[out.addr] = &res
		if out.problem != nil {
			report.Problems = append(report.Problems, out.problem)
		}
	}
	removals{r.plan, r.died.Plan != ""}.tookWithIt(report, lost)
	halfReplaced(r.plan, r.ended, r.facts, report)
	report.addNotStarted(r.plan)
	return fatal
}

// waits returns what each resource waits for: what must be done before it, and of what each
// barrier before it waits for the first two that did not succeed, of which one is another.
func waits(r *run, bad func(addr string) bool) graph.Graph {
	list := maps.Clone(r.before)
	for _, b := range r.plan.Barriers {
		if b.OrderOnly {
			continue
		}
		found := slices.Clone(b.Late)
		for _, end := range b.After {
			addr, _ := order.OfNode(end)
			found = append(found, addr)
		}
		found = slices.DeleteFunc(found, func(addr string) bool { return !bad(addr) })
		slices.Sort(found)
		found = slices.Compact(found)
		for _, node := range b.Before {
			addr, _ := order.OfNode(node)
			list[addr] = slices.Concat(list[addr], found[:min(2, len(found))])
		}
	}
	return list
}

// whyNotStarted adds to each resource that was not started the reason.
func whyNotStarted(ctx context.Context, r *run, report *Report) {
	words := map[Status]string{Error: "failed", Unknown: "may still be at work", Interrupted: "was interrupted", NotStarted: "was not started"}
	waits := waits(r, func(addr string) bool { return words[report.Resources[addr].Status] != "" })
	for addr, res := range report.Resources {
		if res.Status != NotStarted || res.Reason != "" {
			continue
		}
		for _, before := range slices.Sorted(slices.Values(waits[addr])) {
			if word, bad := words[report.Resources[before].Status]; bad && before != addr {
				res.Reason = fmt.Sprintf("it waits for %s, which %s", before, word)
				break
			}
		}
		switch {
		case res.Reason != "":
		case ctx.Err() != nil:
			res.Reason = "interrupted before its turn"
		default:
			res.Reason = r.stops.why(addr)
		}
	}
}

// outputs evaluates the outputs with the real states, and records them.
func (r *run) outputs(report *Report) error {
	values, diags := r.manifest.Outputs(observe.States(slices.Sorted(maps.Keys(r.plan.Resources)), r.facts.Look, r.prior))
	for _, v := range values {
		if len(v.Open) > 0 && !r.plan.Outputs[v.Name].LeftOut {
			diags = append(diags, stillOpen("A precondition of the output "+v.Name, v.Open))
		}
	}
	report.Problems = append(report.Problems, diags...)
	if diags.HasErrors() {
		report.settle(false, true)
		return nil
	}
	outputs := make(map[string]state.Output, len(values))
	for _, v := range values {
		outputs[v.Name] = state.Output{Value: v.Value, Sensitive: v.Sensitive}
	}
	for name, o := range r.plan.Outputs {
		if !o.LeftOut {
			continue
		}
		delete(outputs, name)
		if prior, known := r.prior.Outputs[name]; known {
			outputs[name] = prior
		}
	}
	if maps.EqualFunc(outputs, r.prior.Outputs, func(a, b state.Output) bool {
		return string(a.Value) == string(b.Value) && a.Sensitive == b.Sensitive
	}) {
		return nil
	}
	err := r.journal.Outputs(outputs)
	if err != nil {
		report.settle(false, true)
	}
	return err
}
