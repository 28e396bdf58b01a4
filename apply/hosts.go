package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

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

// stops decides after a failure where nothing new may start. It is safe for concurrent use.
type stops struct {
	r       *run
	earlier int // how many hosts had failed in the killed run of the plan that is continued

	mu     sync.Mutex
	begun  map[string]bool // names of hosts on which an action was started
	failed map[string]bool // names of hosts with failures
}

// newStops returns what a run knows of its hosts before it starts anything: those that a
// killed run of the plan had begun are begun, and those that had failed in it have failed.
func newStops(r *run) *stops {
	s := &stops{r: r, begun: map[string]bool{}, failed: map[string]bool{}}
	for _, addr := range r.died.Begun {
		s.begun[hostOf(r.plan, addr)] = true
	}
	for _, addr := range slices.Concat(r.died.Failed, slices.Collect(maps.Keys(r.prior.Unsettled))) {
		u, host := r.prior.Unsettled[addr], hostOf(r.plan, addr)
		ended := r.died.Plan != "" && u.Plan == r.plan.ID && u.Failed()
		if host != "" && (ended || slices.Contains(r.died.Failed, addr)) {
			s.failed[host] = true
		}
	}
	s.earlier = len(s.failed)
	return s
}

// begin reports whether an action of a step may start on its host, which then is begun: not if
// it would be the first action there, and as many hosts have failed as may. Then the outcome
// says so.
func (s *stops) begin(step *plan.Step, out *outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mayBegin(hostName(step)) {
		out.decline(s.tooMany())
		return false
	}
	s.begun[hostName(step)] = true
	return true
}

// mayBegin reports whether an action may start on a host. The caller holds the lock.
func (s *stops) mayBegin(host string) bool {
	most := s.r.options.MaxFailedHosts
	return host == "" || s.begun[host] || most == 0 || len(s.failed) < most
}

// holds reports whether a step needs an action as far as the plan knows, and none may start on
// its host. Then the outcome says so.
func (s *stops) holds(step *plan.Step, out *outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch step.Change {
	case plan.Valid, plan.Forget, plan.Record, plan.Left:
		return false
	}
	if s.mayBegin(hostName(step)) {
		return false
	}
	out.decline(s.tooMany())
	return true
}

// tooMany says why no further host is begun. The caller holds the lock.
func (s *stops) tooMany() string {
	why := fmt.Sprintf("no further host was begun after %s had failed", words.Count(len(s.failed), "host"))
	if s.earlier > 0 && s.earlier == len(s.failed) {
		why += ", in the run of this plan that was cut short"
	}
	return why
}

// fail notes that a node has failed, and records it: a command that continues this run must
// know. An error is left out here, because the journal reports it again before the next action.
func (s *stops) fail(out *outcome) {
	at := where(s.r.plan, cmp.Or(out.node, out.addr))
	if at.Nowhere || at.Host == "" || out.report.Status == Interrupted {
		return
	}
	s.mu.Lock()
	s.failed[at.Host] = true
	s.mu.Unlock()
	_ = s.r.journal.Failed(out.addr)
}

// after decides what a failure stops. It reports whether nothing at all may start any more.
func (s *stops) after(out *outcome, limits *graph.Limits) (all bool) {
	at := where(s.r.plan, out.node)
	switch {
	case out.fatal:
		return true
	case s.r.options.KeepGoing:
		return false
	case len(s.r.plan.Hosts) == 0:
		return true
	}
	limits.Stop(out.node)
	s.r.event(Stopping{Where: cmp.Or(at.Host, ThisMachine), Running: limits.Running()})
	return false
}

// ThisMachine stands for this machine where hosts are given by name. Names of hosts have no
// spaces.
const ThisMachine = "this machine"

// why says why a resource was not started though it waited for nothing.
func (s *stops) why(addr string) string {
	const anywhere = "nothing new was started after a failure"
	if len(s.r.plan.Hosts) == 0 {
		return anywhere
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if host := hostOf(s.r.plan, addr); host == "" || s.failed[host] {
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
