package report

import (
	"fmt"

	"deployster/apply/compare"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan"
	"deployster/plan/verdict"
	"deployster/protocol"
	"deployster/state/moves"
)

// Format is the version of the report's JSON form.
const Format = 2

// Status reports how an apply, or one resource in it, ended.
type Status string

// The statuses. A whole apply has the first of these that applies: Interrupted; Error, if
// something failed or is unknown; Incomplete, if something was left or not started; OK. It has
// Unknown while it has not ended. A resource may have any but Incomplete.
const (
	OK          Status = "ok"
	Incomplete  Status = "incomplete"
	Unchanged   Status = "valid"       // it needed nothing, as the plan reported
	Skipped     Status = "skipped"     // the plan had actions, but they were not needed any more
	Error       Status = "error"       // see Failed and Reason
	Interrupted Status = "interrupted" // its next action was not started
	Left        Status = "left"        // the plan omits it, though nobody has excluded it: see Reason
	Kept        Status = "kept"        // a plan that only records had nothing to record of it
	NotStarted  Status = "not_started" // it was not started, or not approved
	Unknown     Status = "unknown"     // an action was started, and how it ended is unknown: it may still run
)

// Reverted begins the reason of a resource whose guarded actions were undone.
const Reverted = "reverted"

// Unreachable is the status of a host that could not be used. The resources on it were
// left out of the plan, or have failed.
const Unreachable Status = "unreachable"

// ExitCode returns the exit code of a command that ends with the status.
func (s Status) ExitCode() int {
	switch s {
	case OK:
		return 0
	case Interrupted:
		return 130
	}
	return 1
}

// Change is the kind of change of a resource.
type Change = plan.Change

// Report reports what an apply did. Every apply returns one.
type Report struct {
	Format    int                        `json:"format"`
	Status    Status                     `json:"status"`
	Shutdown  []ShutdownReport           `json:"shutdown,omitempty"`
	Resources map[string]*ResourceReport `json:"resources"`

	// Hosts are the results of the plan's hosts, by name.
	Hosts map[string]HostReport `json:"hosts,omitempty"`
	// Waves are those in which hosts were begun, in their order.
	Waves []Wave `json:"waves,omitempty"`
	// Moves are the address changes that were made in the state file.
	Moves []moves.Move `json:"moves,omitempty"`

	// Checks are the results of the check blocks with the states after the apply.
	Checks []config.CheckResult `json:"checks,omitempty"`

	// Policies are what the policies found about the plan.
	Policies []verdict.Policy `json:"policies,omitempty"`

	// Problems are the diagnostics of all failures, in the order of the resources'
	// addresses.
	Problems diag.Diagnostics `json:"problems,omitempty"`
}

// HostReport reports how the work on a host ended: OK, Error, Interrupted, Unknown,
// NotStarted, Left or Unreachable.
type HostReport struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // in one line
}

// Wave is how a wave of hosts ended: OK; Error, if one of its hosts has failed, also after the
// soak; Incomplete, if a gate has failed and hosts waited for the next one, or nothing new could be
// started; Interrupted, if what follows a wave was not done.
type Wave struct {
	Hosts       []string `json:"hosts"` // that were begun in it
	Status      Status   `json:"status"`
	FailedGates []string `json:"failed_gates,omitempty"` // checks
}

// Line returns how the wave with a number ended, in one line; closed reports that no further one is started.
func (w Wave) Line(number int, closed bool) string {
	text := fmt.Sprintf("Wave %d (%s): %s", number, words.List(w.Hosts, 10), w.Status)
	if len(w.FailedGates) > 0 {
		text += ", failed gates: " + words.List(w.FailedGates, 10)
	}
	if closed {
		text += "; no further wave is started"
	}
	return text
}

// ShutdownReport is one shutdown_first action.
type ShutdownReport struct {
	Resource string `json:"resource"`
	Action   string `json:"action"`
	Status   Status `json:"status"`
	Late     bool   `json:"late,omitempty"` // it ran right before the other actions: the plan could not show it
}

// ResourceReport reports what was done about one resource.
type ResourceReport struct {
	Host      string   `json:"host,omitempty"` // its host; "" = this machine
	Status    Status   `json:"status"`
	Became    Change   `json:"became,omitempty"`  // the change that a deferred one needed, or another than was shown of an early one
	Planned   []string `json:"planned,omitempty"` // actions, by name
	Completed []string `json:"completed,omitempty"`
	Attempts  int      `json:"attempts,omitempty"` // number of attempts, if more than one

	// Failed is what failed, or ended in an unknown way: the name of an action, or
	// "precondition", "config", "state", "postcondition", "approval", "replace",
	// "removal", "soak", "identity", "journal" or "internal".
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
	r := &Report{Format: Format, Status: status, Resources: map[string]*ResourceReport{}, Problems: why}
	if p == nil {
		return r
	}
	r.AddNotStarted(p)
	return r
}

// AddNotStarted adds the resources of the plan that the report does not have yet.
func (r *Report) AddNotStarted(p *plan.Plan) {
	for addr, step := range p.Resources {
		if r.Resources[addr] == nil {
			planned := Names(step.Answer().Actions)
			r.Resources[addr] = &ResourceReport{Status: NotStarted, Planned: planned, NotAttempted: planned}
		}
	}
}

// settle decides the status of the whole. failed = something else than a resource failed.
func (r *Report) Settle(interrupted, failed bool) {
	counts := r.Counts()
	switch {
	case interrupted || counts[Interrupted] > 0:
		r.Status = Interrupted
	case failed || counts[Error]+counts[Unknown] > 0:
		r.Status = Error
	case counts[NotStarted]+counts[Left] > 0:
		r.Status = Incomplete
	default:
		r.Status = OK
	}
}

// Fail adds an error that no resource has: with it the apply has failed.
func (r *Report) Fail(err error) {
	if err == nil {
		return
	}
	r.Problems = append(r.Problems, diag.From("Error", err)...)
	r.Settle(r.Status == Interrupted, true)
}

// Whole reports whether all that the plan shows was done.
func (r *Report) Whole() bool {
	return r.Status == OK || r.Status == Incomplete && r.Counts()[NotStarted] == 0
}

// Counts returns the number of resources by status.
func (r *Report) Counts() map[Status]int {
	counts := map[Status]int{}
	for _, res := range r.Resources {
		counts[res.Status]++
	}
	return counts
}

// Names lists the actions' names.
func Names(actions []protocol.Action) []string {
	var list []string
	for _, a := range actions {
		list = append(list, a.Name)
	}
	return list
}
