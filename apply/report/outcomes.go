package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan"
	"deployster/plan/order"
)

// FailedReplace is ResourceReport.Failed of a resource that was destroyed and not created again.
const FailedReplace = "replace"

// Outcomes are how all work of an apply ended. Its report is made of them.
type Outcomes struct {
	Plan     *plan.Plan
	Resumes  bool // an earlier run of the plan has died, which may have removed what is skipped now
	Ended    []Ended
	Shutdown []ShutdownReport         // of the shutdown_first actions that were run
	Waves    []Wave                   // in which hosts were begun
	Soaked   []Ended                  // resources that were not VALID after a soak
	Cut      bool                     // the user has interrupted a soak
	IsGone   func(addr string) bool   // the recorded object of a resource was destroyed
	Why      func(addr string) string // why a resource was not started that waited for nothing
	Left     map[string]Leaving       // what the plan leaves out because of hosts, by address
}

// Leaving is why a plan leaves out a resource because of its host; "" = this machine.
type Leaving struct{ Host, Why string }

// Collect puts the outcomes into the report, and the resources that were not started.
// The error is that of the journal, or of a failure of this program.
func (o *Outcomes) Collect(report *Report) error {
	var fatal error
	report.Shutdown, report.Waves = o.Shutdown, o.Waves
	ended, soaked := pointers(o.Ended), pointers(o.Soaked) // as an outcome is large
	for _, out := range slices.Concat(ended, soaked) {
		if out.Fatal {
			fatal = out.Problem
		}
	}
	lost := slices.DeleteFunc(slices.Clone(ended), func(e *Ended) bool { return e.What != order.Again || !e.Failed() })
	ended = slices.DeleteFunc(ended, func(e *Ended) bool { return e.What == order.Again })
	slices.SortStableFunc(ended, func(a, b *Ended) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, out := range ended {
		res := out.Report
		if end := report.Resources[out.Addr]; end != nil { // the end of its old object came first
			res.Planned, res.Completed = slices.Concat(end.Planned, res.Planned), slices.Concat(end.Completed, res.Completed)
		}
		report.Resources[out.Addr] = &res
		if out.Problem != nil {
			report.Problems = append(report.Problems, out.Problem)
		}
	}
	o.tookWithIt(report, lost)
	for _, out := range soaked {
		report.Problems = append(report.Problems, out.Problem)
		o.lose(report, out, out.Report.Reason)
	}
	o.halfReplaced(report)
	report.AddNotStarted(o.Plan)
	return fatal
}

func pointers(list []Ended) []*Ended {
	out := make([]*Ended, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// Sum completes a report that has the outcomes, and decides its status. interrupted reports that the
// user has interrupted the apply, fatal that a fact could not be made durable or this program has failed.
func (o *Outcomes) Sum(report *Report, interrupted, fatal bool) {
	o.whyNotStarted(report, interrupted)
	o.sumHosts(report)
	o.Leave(report)
	unseen := o.unseen(report)
	stopped := interrupted && (report.Counts()[NotStarted] > 0 || unseen || o.Cut)
	report.Settle(stopped, fatal || failures(report))
}

// Leave adds to a report what the plan leaves out because of hosts, with the reasons.
func (o *Outcomes) Leave(report *Report) {
	for addr, left := range o.Left {
		report.Resources[addr] = &ResourceReport{Host: left.Host, Status: Left, Reason: left.Why}
		if report.Hosts[left.Host].Status == OK {
			report.Hosts[left.Host] = HostReport{Status: Left, Reason: addr + ": " + left.Why}
		}
	}
}

// failures reports whether a report has an error of something else than a resource that was
// not started: an error of such a resource reports why not.
func failures(report *Report) bool {
	return slices.ContainsFunc(report.Problems, func(d *diag.Diagnostic) bool {
		res := report.Resources[d.Address]
		return d.Severity == diag.Error && (res == nil || res.Status != NotStarted)
	})
}

// halfReplaced reports as failed the resources that were destroyed and not created
// again: they do not exist now, and must not be reported as done.
func (o *Outcomes) halfReplaced(report *Report) {
	made := map[string]bool{}
	for i := range o.Ended {
		if out := &o.Ended[i]; out.What != order.Again {
			made[out.Addr] = made[out.Addr] || !out.Old()
		}
	}
	for addr, res := range report.Resources {
		step := o.Plan.Resources[addr]
		destroyed := !made[addr] && (res.Status == OK || res.Status == Skipped)
		if step.Change() == plan.Replace && (destroyed || res.Status == NotStarted && o.IsGone(addr)) {
			res.Status, res.Failed = Error, FailedReplace
			res.Reason = "it was destroyed and not created again. Plan again to create it"
		}
	}
}

// waits returns what each resource waits for: what must be done before it, and of what each
// barrier before it waits for the first two that did not succeed, of which one is another.
func (o *Outcomes) waits(bad func(addr string) bool) graph.Graph {
	list := o.Plan.Before()
	for _, b := range o.Plan.Barriers {
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
func (o *Outcomes) whyNotStarted(report *Report, interrupted bool) {
	words := map[Status]string{Error: "failed", Unknown: "may still be at work", Interrupted: "was interrupted",
		NotStarted: "was not started"}
	waits := o.waits(func(addr string) bool { return words[report.Resources[addr].Status] != "" })
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
		case interrupted:
			res.Reason = "interrupted before its turn"
		default:
			res.Reason = o.Why(addr)
		}
	}
}

// sumHosts puts the result of each host of a plan into the report.
func (o *Outcomes) sumHosts(report *Report) {
	if len(o.Plan.Hosts) == 0 {
		return
	}
	report.Hosts = map[string]HostReport{}
	for name, pin := range o.Plan.Hosts {
		report.Hosts[name] = HostReport{Status: OK}
		if pin.Unreachable != "" {
			report.Hosts[name] = HostReport{Status: Unreachable, Reason: pin.Unreachable}
		}
	}
	gone := map[string]bool{}
	for i := range o.Ended {
		out := &o.Ended[i]
		gone[out.Addr] = gone[out.Addr] || out.Gone && !out.Acted
	}
	for _, addr := range slices.Sorted(maps.Keys(report.Resources)) {
		res := report.Resources[addr]
		if res.Host = turns.HostOf(o.Plan, addr); res.Host == "" {
			continue
		}
		status := res.Status
		if gone[addr] {
			status = Unreachable
		}
		if worse[status] > worse[report.Hosts[res.Host].Status] {
			report.Hosts[res.Host] = HostReport{Status: status, Reason: addr + ": " + res.Reason}
		}
	}
}

// worse orders the statuses of resources: a host gets the worst one of its resources.
var worse = map[Status]int{NotStarted: 1, Interrupted: 2, Error: 3, Unknown: 4, Unreachable: 5}
