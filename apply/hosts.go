package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/apply/turns"
	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// HostReport says how the work on a host ended: OK, Error, Interrupted, Unknown,
// NotStarted, Left or Unreachable.
type HostReport struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // in one line
}

// Unreachable is the status of a host that could not be used. The resources on it were
// left out of the plan, or have failed.
const Unreachable Status = "unreachable"

// stops decides after a failure where nothing new may start.
type stops struct {
	r        *run
	hosts    *turns.Hosts
	declined string // the resource whose shutdown_first was not approved; "" = none
}

// begin reports whether an action of a step may start on its host, which then is begun.
func (s *stops) begin(step *plan.Step, out *outcome) bool {
	return !out.held(s.hosts.Begin(hostName(step)))
}

// holds reports whether a step needs an action, as far as the plan knows, and none may start.
func (s *stops) holds(step *plan.Step, out *outcome) bool {
	switch step.Change() {
	case plan.Valid, plan.Forget, plan.Record, plan.Left:
		return false
	}
	return out.held(s.hosts.Why(hostName(step)))
}

// held reports whether there is a reason why no action may start, and notes it.
func (o *outcome) held(why string) bool {
	if why != "" {
		o.decline(why)
	}
	return why != ""
}

// fail notes that a node has failed, and records it: a command that continues this run must
// know. An error is left out here, because the journal reports it again before the next action.
func (s *stops) fail(out *outcome) {
	at := turns.Where(s.r.plan, cmp.Or(out.node, out.addr))
	if at.Nowhere || at.Host == "" || out.report.Status == Interrupted {
		return
	}
	s.hosts.Fail(at.Host)
	_ = s.r.journal.Failed(out.addr)
}

// after decides what a failure stops. It reports whether nothing at all may start any more.
func (s *stops) after(out *outcome, limits *graph.Limits) (all bool) {
	at := turns.Where(s.r.plan, out.node)
	switch {
	case out.fatal:
		return true
	case s.r.options.KeepGoing:
		return false
	case len(s.r.plan.Hosts) == 0:
		return true
	}
	limits.Stop(out.node)
	s.r.options.event(Stopping{Where: cmp.Or(at.Host, ThisMachine), Running: limits.Running()})
	return false
}

// ThisMachine stands for this machine where hosts are given by name. Names of hosts have no
// spaces.
const ThisMachine = "this machine"

// why says why a resource was not started though it waited for nothing.
func (s *stops) why(addr string) string {
	const anywhere = "nothing new was started after a failure"
	if s.declined != "" {
		return fmt.Sprintf("everything else comes after the shutdown of %s, which was not approved", s.declined)
	}
	if len(s.r.plan.Hosts) == 0 {
		return anywhere
	}
	if host := hostOf(s.r.plan, addr); host == "" || s.hosts.Failed(host) {
		return fmt.Sprintf("nothing new was started on %s after a failure", cmp.Or(host, ThisMachine))
	}
	return anywhere
}

// sumHosts puts the result of each host of a plan into the report.
func sumHosts(r *run, report *Report) {
	if len(r.plan.Hosts) == 0 {
		return
	}
	report.Hosts = map[string]HostReport{}
	for name, pin := range r.plan.Hosts {
		report.Hosts[name] = HostReport{Status: OK}
		if pin.Unreachable != "" {
			report.Hosts[name] = HostReport{Status: Unreachable, Reason: pin.Unreachable}
		}
	}
	gone := map[string]bool{}
	for i := range r.ended {
		gone[r.ended[i].addr] = gone[r.ended[i].addr] || r.ended[i].gone && !r.ended[i].acted
	}
	for _, addr := range slices.Sorted(maps.Keys(report.Resources)) {
		res := report.Resources[addr]
		if res.Host = hostOf(r.plan, addr); res.Host == "" {
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

// hostOf names the host of a resource; "" = this machine.
func hostOf(p *plan.Plan, addr string) string {
	if step := p.Resources[addr]; step != nil {
		return hostName(step)
	}
	return ""
}

// hostName names the host of a step; "" = this machine.
func hostName(s *plan.Step) string { return runner.NameOf(s.Settings.Host) }
