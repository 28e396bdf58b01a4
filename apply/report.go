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

// The statuses. A whole apply has OK, Error, Interrupted, or Unknown while it has
// not ended; a resource may have any.
const (
	OK          Status = "ok"
	Unchanged   Status = "valid"       // it needed nothing, as the plan said
	Skipped     Status = "skipped"     // the plan had actions, but they were not needed any more
	Error       Status = "error"       // see Failed and Reason
	Interrupted Status = "interrupted" // its next action was not started
	LeftAlone   Status = "left"        // nothing was done: there was nothing to record, or the next plan decides
	NotStarted  Status = "not_started" // it was not started, or not approved
	Unknown     Status = "unknown"     // an action was started, and how it ended is unknown: it may still run
)

// Change is the kind of change of a resource.
type Change = plan.Change

// Report says what an apply did. Every apply returns one.
type Report struct {
	Format    int                        `json:"format"`
	Status    Status                     `json:"status"`
	Shutdown  []ShutdownReport           `json:"shutdown,omitempty"`
	Resources map[string]*ResourceReport `json:"resources"`

	// Hosts are the results of the plan's hosts, by name.
	Hosts map[string]HostReport `json:"hosts,omitempty"`
	// Moves are the address changes that were made in the state file.
	Moves []moves.Move `json:"moves,omitempty"`

	// Checks are the results of the check blocks with the states after the apply.
	Checks []config.CheckResult `json:"checks,omitempty"`

	// Problems are the diagnostics of all failures, in the order of the resources'
	// addresses.
	Problems diag.Diagnostics `json:"problems,omitempty"`
}

// ShutdownReport is one shutdown_first action.
type ShutdownReport struct {
	Resource string `json:"resource"`
	Action   string `json:"action"`
	Status   Status `json:"status"`
	Late     bool   `json:"late,omitempty"` // it ran right before the other actions: the plan could not show it
}

// ResourceReport says what was done about one resource.
type ResourceReport struct {
	Host      string   `json:"host,omitempty"` // its host; "" = this machine
	Status    Status   `json:"status"`
	Became    Change   `json:"became,omitempty"`  // the change that a deferred one needed; "" = no action was started
	Planned   []string `json:"planned,omitempty"` // actions, by name
	Completed []string `json:"completed,omitempty"`
	Attempts  int      `json:"attempts,omitempty"` // number of attempts, if more than one

	// Failed is what failed, or ended in an unknown way: the name of an action, or
	// "precondition", "config", "state", "postcondition", "approval", "replace",
	// "removal", "identity", "journal" or "internal".
	Failed    string   `json:"failed,omitempty"`
	ExitCode  int      `json:"exit_code,omitempty"`  // of the failed action; 0 = it did not fail by its exit code
	LastLines []string `json:"last_lines,omitempty"` // the last lines that it printed, safe to show

	Reason       string               `json:"reason,omitempty"` // why it ended so
	NotAttempted []string             `json:"not_attempted,omitempty"`
	Stale        []compare.Difference `json:"stale,omitempty"` // how what was found differs from what the plan showed
}

// Refused returns the report of an apply that was refused before anything was run. The
// plan may be nil.
func Refused(p *plan.Plan, status Status, why diag.Diagnostics) *Report {
	r := &Report{Format: ReportFormat, Status: status, Resources: map[string]*ResourceReport{}, Problems: why}
	if p == nil {
		return r
	}
	r.addNotStarted(p)
	return r
}

// addNotStarted adds the resources of the plan that the report does not have yet.
func (r *Report) addNotStarted(p *plan.Plan) {
	for addr, step := range p.Resources {
		if r.Resources[addr] == nil {
			planned := names(step.Actions)
			r.Resources[addr] = &ResourceReport{Status: NotStarted, Planned: planned, NotAttempted: planned}
		}
	}
}

// Counts returns the number of resources by status.
func (r *Report) Counts() map[Status]int {
	counts := map[Status]int{}
	for _, res := range r.Resources {
		counts[res.Status]++
	}
	return counts
}
