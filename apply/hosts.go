package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/graph"
	"deployster/internal/base/words"
	"deployster/internal/runner"
	"deployster/plan"
)

// HostReport says how the work on a host ended: OK, Error, Interrupted, Unknown,
// NotStarted or Unreachable.
type HostReport struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // in one line
}

// Unreachable is the status of a host that could not be used. The resources on it were
// left out of the plan, or have failed.
const Unreachable Status = "unreachable"

// stops decides after a failure where nothing new may start.
type stops struct {
	r      *run
	limits *graph.Limits
	failed map[string]bool // names of hosts with failures
}

// after notes a failure. It reports whether nothing at all may start any more.
func (s *stops) after(out *outcome) (all bool) {
	at := where(s.r.plan, out.node)
	if !at.Nowhere && at.Host != "" && !s.failed[at.Host] {
		s.failed[at.Host] = true
		if s.enough() {
			s.limits.Enough()
		}
	}
	switch {
	case out.fatal:
		return true
	case s.r.options.KeepGoing:
		return false
	case len(s.r.plan.Hosts) == 0:
		return true
	}
	s.limits.Stop(out.node)
	s.r.event(Stopping{Where: cmp.Or(at.Host, ThisMachine), Running: s.limits.Running()})
	return false
}

// ThisMachine stands for this machine where hosts are given by name. Names of hosts have no
// spaces.
const ThisMachine = "this machine"

// why says why a resource was not started though it waited for nothing.
func (s *stops) why(addr string) string {
	const anywhere = "nothing new was started after a failure"
	if s == nil || len(s.r.plan.Hosts) == 0 {
		return anywhere
	}
	switch host := hostOf(s.r.plan, addr); {
	case host == "", s.failed[host]:
		return fmt.Sprintf("nothing new was started on %s after a failure", cmp.Or(host, ThisMachine))
	case s.enough():
		return fmt.Sprintf("no further host was begun after %s had failed", words.Count(len(s.failed), "host"))
	}
	return anywhere
}

// enough reports whether the number of failed hosts has reached the limit.
func (s *stops) enough() bool {
	return s.r.options.MaxFailedHosts > 0 && len(s.failed) >= s.r.options.MaxFailedHosts
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
