package events

import (
	"encoding/json"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/protocol"
	"deployster/state/moves"
)

// The events, in the order in which a run may send them.

// Version is the first event of every stream.
type Version struct {
	Format     int    `json:"format"`
	Deployster string `json:"deployster"` // the tool's version
	Command    string `json:"command"`
	Run        string `json:"run"` // names the run's records
}

// Diagnostic is an error or a warning. Its level is the diagnostic's severity.
type Diagnostic struct {
	Diagnostic *diag.Diagnostic `json:"diagnostic"`
}

// Note says something that has its message only.
type Note struct{}

// Pull says how far it is with an image that is fetched.
type Pull struct {
	Image string `json:"image"`
	Phase string `json:"phase"` // downloading, retrying, done, failed
	Done  int64  `json:"done_bytes"`
	Total int64  `json:"total_bytes"` // 0 = not known
}

// ResourceAsking says that a resource's image is being asked for its state.
type ResourceAsking struct {
	Resource string  `json:"resource"`
	Purpose  Purpose `json:"purpose"`
}

// Purpose is why a state is asked.
type Purpose string

// The purposes.
const (
	ToPlan     Purpose = "plan"
	BeforeActs Purpose = "before" // right before the actions: is it still as it was shown?
	AfterActs  Purpose = "after"  // did they help?
)

// ResourceDecided says what a plan found of a resource.
type ResourceDecided struct {
	Resource string       `json:"resource"`
	Status   apply.Status `json:"status"` // ok, or error: a diagnostic says why
	Change   plan.Change  `json:"change,omitempty"`
}

// PlannedChange is what a plan wants to do with a resource. There is none for
// those that are valid and stay as and where they are.
type PlannedChange struct {
	Resource  string            `json:"resource"`
	Change    plan.Change       `json:"change"`
	Host      string            `json:"host,omitempty"` // that it is on; "" = this machine
	Image     string            `json:"image"`          // the reference, as the manifest has it
	Digest    string            `json:"digest,omitempty"`
	Actions   []protocol.Action `json:"actions,omitempty"`
	Shutdown  *protocol.Action  `json:"shutdown_first,omitempty"`
	Reasons   []protocol.Reason `json:"reasons,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	MovedFrom string            `json:"moved_from,omitempty"`
	Replaces  string            `json:"replaces,omitempty"` // create: what goes when this one is made
	Deposed   string            `json:"deposed,omitempty"`  // the address that it had until another thing took it
	MayChange bool              `json:"may_change,omitempty"`
	Expected  plan.Change       `json:"expected,omitempty"`
	MovedWhy  string            `json:"moved_why,omitempty"`
	Adopted   bool              `json:"adopted,omitempty"`
	Edited    []jsondoc.Edit    `json:"config_changed,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Drifted   bool              `json:"drifted,omitempty"`
}

// PlanSummary ends the planning.
type PlanSummary struct {
	Plan    string       `json:"plan"` // its id
	Summary plan.Summary `json:"summary"`
	Changes bool         `json:"changes"` // whether there is anything to do
	Moves   []moves.Move `json:"moves,omitempty"`
	Outputs []string     `json:"changed_outputs,omitempty"`
	// LeftOpen lists the resources about which apply may decide by itself.
	LeftOpen []string `json:"left_open,omitempty"`
	File     string   `json:"file,omitempty"` // where it was saved
}

// Drift is what drift found.
type Drift struct {
	Drift *drift.Report `json:"drift"`
}

// ApplyStarted says that a plan is carried out from now on.
type ApplyStarted struct {
	Plan string `json:"plan"`
}

// ActionStarted says that an action runs.
type ActionStarted struct {
	Resource    string `json:"resource"`
	Action      string `json:"action"`
	Host        string `json:"host,omitempty"` // that it runs on; "" = this machine
	Description string `json:"description,omitempty"`
	First       bool   `json:"shutdown_first,omitempty"` // it is the resource's shutdown_first
	// and runs right before the other actions of its resource, and not before everything else
	Late bool `json:"late,omitempty"`
}

// Log is one line that an image printed.
type Log struct {
	Resource string `json:"resource"`
	Step     string `json:"step"`   // init, state, or the action
	Stream   string `json:"stream"` // stdout or stderr
	Line     string `json:"line"`
}

// ActionEnded says how an action ended.
type ActionEnded struct {
	Resource string       `json:"resource"`
	Action   string       `json:"action"`
	Host     string       `json:"host,omitempty"` // that it ran on; "" = this machine
	Status   apply.Status `json:"status"`
	Reason   string       `json:"reason,omitempty"`
	Took     float64      `json:"took_seconds"`
}

// Retrying says that a resource has failed, and is tried again.
type Retrying struct {
	Resource string  `json:"resource"`
	Attempt  int     `json:"attempt"` // that comes
	Of       int     `json:"of"`
	Pause    float64 `json:"next_seconds"`
	Reason   string  `json:"reason"`
}

// ResourceEnded says what became of a resource.
type ResourceEnded struct {
	Resource string      `json:"resource"`
	Change   plan.Change `json:"change"`
	apply.ResourceReport
	Took float64 `json:"took_seconds"`
}

// Stopping says that nothing new is started.
type Stopping struct {
	Interrupted bool   `json:"interrupted"`    // by the user; else because something failed
	Host        string `json:"host,omitempty"` // where; "" = anywhere, "this machine" = only here
	Running     int    `json:"running"`        // resources that are waited for
}

// Checks is what the check blocks say.
type Checks struct {
	Checks []config.CheckResult `json:"checks"`
}

// Outputs are the outputs as they are recorded now.
type Outputs struct {
	Outputs map[string]OutputValue `json:"outputs"`
}

// OutputValue is one output. A sensitive one has no value here.
type OutputValue struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value,omitempty"`
}

// Report is the report of an apply.
type Report struct {
	Report *apply.Report `json:"report"`
}

// Dropped says that events were left out, because the reader was too slow or
// there were too many.
type Dropped struct {
	Count int `json:"count"`
}

// End is the last event of every stream.
type End struct {
	Status   apply.Status `json:"status"` // ok, error or interrupted
	ExitCode int          `json:"exit_code"`
	Took     float64      `json:"took_seconds"`
}

// All returns one of each, in the order in which a run may send them.
func All() []Body {
	return []Body{Version{}, Diagnostic{}, Note{}, Pull{}, ArtifactChecked{}, ArtifactFetched{}, ResourceAsking{}, ResourceDecided{},
		PlannedChange{}, PlanSummary{}, Drift{},
		ApplyStarted{}, ActionStarted{}, Log{}, ActionEnded{}, Retrying{}, ResourceEnded{}, Stopping{}, Watch{}, ResourceWatch{}, WatchProcess{},
		RepairStarted{}, RepairEnded{},
		Checks{}, Outputs{}, Report{}, Dropped{}, End{}}
}
