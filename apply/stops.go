package apply

import (
	"cmp"
	"fmt"

	"deployster/apply/turns"
	"deployster/internal/base/graph"
	"deployster/plan"
)

// stops decides after a failure where nothing new may start.
type stops struct {
	plan      *plan.Plan
	journal   Journal
	hosts     *turns.Hosts
	keepGoing bool
	declined  string // the resource whose shutdown_first was not approved; "" = none
}

// fail notes that a node has failed, and records it: a command that continues this run must
// know. An error is left out here, because the journal reports it again before the next action.
func (s *stops) fail(out *outcome) {
	at := turns.Where(s.plan, cmp.Or(out.Node, out.Addr))
	if at.Nowhere || at.Host == "" || out.Report.Status == Interrupted {
		return
	}
	s.hosts.Fail(at.Host)
	_ = s.journal.Failed(out.Addr)
}

// after decides what a failure stops: nothing, its host, or all. The host is returned; "" = none.
func (s *stops) after(out *outcome, limits *graph.Limits) (host string, all bool) {
	at := turns.Where(s.plan, out.Node)
	switch {
	case out.Fatal:
		return "", true
	case s.keepGoing:
		return "", false
	case len(s.plan.Hosts) == 0:
		return "", true
	}
	limits.Stop(out.Node)
	return cmp.Or(at.Host, ThisMachine), false
}

// ThisMachine stands for this machine where hosts are given by name. Names of hosts have no
// spaces.
const ThisMachine = "this machine"

// why reports why a resource was not started though it waited for nothing.
func (s *stops) why(addr string) string {
	const anywhere = "nothing new was started after a failure"
	if s.declined != "" {
		return fmt.Sprintf("everything else comes after the shutdown of %s, which was not approved", s.declined)
	}
	if len(s.plan.Hosts) == 0 {
		return anywhere
	}
	if host := turns.HostOf(s.plan, addr); host == "" || s.hosts.Failed(host) {
		return fmt.Sprintf("nothing new was started on %s after a failure", cmp.Or(host, ThisMachine))
	}
	return anywhere
}
