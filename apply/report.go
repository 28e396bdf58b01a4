package apply

import (
	"deployster/apply/compare"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/state/moves"
)

// ReportFormat is the version of the report's JSON form.
const ReportFormat = 1

// Status says how an apply, or one resource in it, ended.
type Status string

// The statuses. A whole apply is OK, Error, Interrupted, or Unknown while it has
// not ended; a resource is any.
const (
	OK          Status = "ok"
	Unchanged   Status = "valid"       // nothing to do, as the plan said
	Skipped     Status = "skipped"     // the plan had actions, but it was right already
	Error       Status = "error"       // see Failed and Reason
	Interrupted Status = "interrupted" // its next action was not started
	LeftAlone   Status = "left"        // the plan only records, and there was nothing to record of it
	NotStarted  Status = "not_started" // its turn did not come, or it was not approved
	Unknown     Status = "unknown"     // an action was started, and how it ended is not known: it may still run
)

// Change is what is done about a resource.
type Change = plan.Change

// Report says what an apply did. There is one in every case.
type Report struct {
	Format    int                        `json:"format"`
	Status    Status                     `json:"status"`
	Shutdown  []ShutdownReport           `json:"shutdown,omitempty"`
	Resources map[string]*ResourceReport `json:"resources"`

	// Hosts are those of the plan, by their names.
	Hosts map[string]HostReport `json:"hosts,omitempty"`
	// Moves are the addresses that the state file has changed.
	Moves []moves.Move `json:"moves,omitempty"`

	// Checks are what the check blocks say of the world as it is now.
	Checks []config.CheckResult `json:"checks,omitempty"`

	// Problems are the failures as a reader wants them, in the order of the
	// resources' addresses.
	Problems diag.Diagnostics `json:"problems,omitempty"`
}

// ShutdownReport is one shutdown_first action.
type ShutdownReport struct {
	Resource string `json:"resource"`
	Action   string `json:"action"`
	Status   Status `json:"status"`
	Late     bool   `json:"late,omitempty"` // of a resource that could not be asked before: it ran right before its own actions
}

// ResourceReport says what was done about one resource.
type ResourceReport struct {
	Host      string   `json:"host,omitempty"` // that it is on; "" = this machine
	Status    Status   `json:"status"`
	Became    Change   `json:"became,omitempty"`  // what a deferred one turned out to need; "" = its actions were not begun
	Planned   []string `json:"planned,omitempty"` // actions, by name
	Completed []string `json:"completed,omitempty"`
	Attempts  int      `json:"attempts,omitempty"` // how often it was tried, when that is more than once

	// Failed is what did not do well, or whose end is not known: the name of an
	// action, or "precondition", "config", "state", "postcondition", "approval", "replace",
	// "removal", "identity", "journal" or "internal".
	Failed    string   `json:"failed,omitempty"`
	ExitCode  int      `json:"exit_code,omitempty"`  // of what failed; 0 when it is not that which tells
	LastLines []string `json:"last_lines,omitempty"` // that it printed, safe to show

	Reason       string               `json:"reason,omitempty"` // in one line
	NotAttempted []string             `json:"not_attempted,omitempty"`
	Stale        []compare.Difference `json:"stale,omitempty"` // what was found other than the plan showed it
}

// Refused is the report of an apply that was refused before anything was run. The
// plan may be nil when there is none.
func Refused(p *plan.Plan, status Status, why diag.Diagnostics) *Report {
	r := &Report{Format: ReportFormat, Status: status, Resources: map[string]*ResourceReport{}, Problems: why}
	if p == nil {
		return r
	}
	r.addNotStarted(p)
	return r
}

// addNotStarted adds the resources of which nothing is said yet.
func (r *Report) addNotStarted(p *plan.Plan) {
	for addr, step := range p.Resources {
		if r.Resources[addr] == nil {
			planned := names(step.Actions)
			r.Resources[addr] = &ResourceReport{Status: NotStarted, Planned: planned, NotAttempted: planned}
		}
	}
}

// Counts sums the resources up by status.
func (r *Report) Counts() map[Status]int {
	counts := map[Status]int{}
	for _, res := range r.Resources {
		counts[res.Status]++
	}
	return counts
}
