package events

import (
	"encoding/json"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/rootless"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/inputs"
	"deployster/plan/verdict"
	"deployster/protocol"
	"deployster/state/moves"
)

// The events, in the order in which a run may send them.

// Version is the first event of every stream.
type Version struct {
	Format     int    `json:"format"`
	Deployster string `json:"deployster"` // the tool's version
	Command    string `json:"command"`
	Run        string `json:"run"` // the id of the run's records
}

// Diagnostic is an error or a warning. Its level is the diagnostic's severity.
type Diagnostic struct {
	Diagnostic *diag.Diagnostic `json:"diagnostic"`
}

// Note is an event with only a message.
type Note struct{}

// Pull reports the progress of an image that is pulled.
type Pull struct {
	Image string `json:"image"`
	Phase string `json:"phase"` // downloading, retrying, done, failed
	Done  int64  `json:"done_bytes"`
	Total int64  `json:"total_bytes"` // 0 = unknown
}

// ResourceAsking reports that a resource's image starts to read its state.
type ResourceAsking struct {
	Resource string  `json:"resource"`
	Purpose  Purpose `json:"purpose"`
}

// Purpose is why a state is read.
type Purpose string

// The purposes.
const (
	ToPlan     Purpose = "plan"
	BeforeActs Purpose = "before" // right before the actions: has it changed since the plan?
	AfterActs  Purpose = "after"  // does it match the config now?
)

// ResourceDecided reports which change the plan has for a resource.
type ResourceDecided struct {
	Resource string       `json:"resource"`
	Status   apply.Status `json:"status"` // ok, or error: a diagnostic reports why
	Change   plan.Change  `json:"change,omitempty"`
}

// PlannedChange is the planned change of a resource. Resources that are valid and stay
// unchanged at their address have none.
type PlannedChange struct {
	Resource  string            `json:"resource"`
	Change    plan.Change       `json:"change"`
	Host      string            `json:"host,omitempty"` // the host that it is on; "" = this machine
	Image     string            `json:"image"`          // the reference in the manifest
	Digest    string            `json:"digest,omitempty"`
	Actions   []protocol.Action `json:"actions,omitempty"`
	Shutdown  *protocol.Action  `json:"shutdown_first,omitempty"`
	Reasons   []protocol.Reason `json:"reasons,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	MovedFrom string            `json:"moved_from,omitempty"`
	Replaces  string            `json:"replaces,omitempty"` // create: the key of the old entry, which ends afterwards
	Deposed   string            `json:"deposed,omitempty"`  // the address that it had before another resource took it
	MayChange bool              `json:"may_change,omitempty"`
	Early     bool              `json:"early,omitempty"` // its image was queried before what it waits for was done
	Expected  plan.Change       `json:"expected,omitempty"`
	MovedWhy  string            `json:"moved_why,omitempty"`
	Adopted   bool              `json:"adopted,omitempty"`
	Made      bool              `json:"made,omitempty"` // an apply that was interrupted created it, and it is only recorded now
	Edited    []jsondoc.Edit    `json:"config_changed,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	RunsWith  []string          `json:"runs_with,omitempty"` // what its type block allows beyond the defaults
	Weaker    []string          `json:"weaker,omitempty"`    // what the cluster of its host does not enforce
	Drifted   bool              `json:"drifted,omitempty"`
	Inputs    []inputs.Change   `json:"inputs_changed,omitempty"` // since it was last VALID
	NotMade   bool              `json:"not_created,omitempty"`    // deployster did not create what is destroyed
	Exclusive string            `json:"exclusive,omitempty"`      // the exclusive block that lists the object
	Keys      string            `json:"keys,omitempty"`           // of a block whose instances are not known: (known after apply)
	Later     bool              `json:"later,omitempty"`          // a later round of the apply decides it
}

// PlanSummary is the last event of planning.
type PlanSummary struct {
	Plan    string       `json:"plan,omitempty"` // the plan's id, unless it is only shown
	Summary plan.Summary `json:"summary"`
	Changes bool         `json:"changes"` // whether the plan has changes
	Moves   []moves.Move `json:"moves,omitempty"`
	Outputs []string     `json:"changed_outputs,omitempty"`
	// Exclusive is what was found about each exclusive block.
	Exclusive []plan.Exclusive `json:"exclusive,omitempty"`
	// LeftOpen lists the resources whose actions are decided during apply.
	LeftOpen []string `json:"left_open,omitempty"`
	// Later lists the blocks whose instances are not known yet, and what waits for them: a later round of the apply decides these.
	Later []string `json:"later,omitempty"`
	File  string   `json:"file,omitempty"` // the file to which it was saved
	// Rootless lists what containers on this machine do not have, because deployster runs without root.
	Rootless []rootless.Loss `json:"rootless,omitempty"`
}

// Drift is the report of a drift check.
type Drift struct {
	Drift *drift.Report `json:"drift"`
}

// ApplyStarted reports that the apply of a plan begins.
type ApplyStarted struct {
	Plan  string `json:"plan"`
	Round int    `json:"round,omitempty"` // the number of a later round of the same apply; 0 = the first
}

// ActionStarted reports that an action starts.
type ActionStarted struct {
	Resource    string `json:"resource"`
	Action      string `json:"action"`
	Host        string `json:"host,omitempty"` // the host that it runs on; "" = this machine
	Pod         string `json:"pod,omitempty"`  // in a cluster: its Pod, if it has one of its own
	Description string `json:"description,omitempty"`
	First       bool   `json:"shutdown_first,omitempty"` // it is the resource's shutdown_first
	// it runs right before the other actions of its resource, not before those of all resources
	Late bool `json:"late,omitempty"`
	// how many resources its worker carries out the action for, in one batch
	Together int `json:"together,omitempty"`
}

// Log is one line that an image printed.
type Log struct {
	Resource string `json:"resource"`
	Step     string `json:"step"`   // init, state, or the action
	Stream   string `json:"stream"` // stdout or stderr
	Line     string `json:"line"`
}

// Waiting reports why a step in a cluster has not begun yet.
type Waiting struct {
	Resource string    `json:"resource"`
	Host     string    `json:"host"`
	Step     string    `json:"step"` // init, state, or the action
	Reason   string    `json:"reason"`
	Since    time.Time `json:"since"` // when it was requested
}

// ActionEnded reports how an action ended.
type ActionEnded struct {
	Resource string       `json:"resource"`
	Action   string       `json:"action"`
	Host     string       `json:"host,omitempty"` // the host that it ran on; "" = this machine
	Status   apply.Status `json:"status"`
	Reason   string       `json:"reason,omitempty"`
	Took     float64      `json:"took_seconds"`
}

// Retrying reports that a resource has failed, and is tried again.
type Retrying struct {
	Resource string  `json:"resource"`
	Attempt  int     `json:"attempt"` // the number of the next attempt
	Of       int     `json:"of"`
	Pause    float64 `json:"next_seconds"`
	Reason   string  `json:"reason"`
}

// ResourceEnded reports the result of a resource.
type ResourceEnded struct {
	Resource string      `json:"resource"`
	Change   plan.Change `json:"change"`
	apply.ResourceReport
	Took float64 `json:"took_seconds"`
}

// Stopping reports that no new action is started.
type Stopping struct {
	Interrupted bool   `json:"interrupted"`    // by the user; else because an action failed
	Host        string `json:"host,omitempty"` // the host where; "" = everywhere, "this machine" = only here
	Running     int    `json:"running"`        // the number of resources that are still in progress
}

// Settling reports that guarded actions are confirmed, if their host can be reached again, or undone.
type Settling struct {
	Host      string   `json:"host"`
	Resources []string `json:"resources"` // of the group
	Keep      bool     `json:"keep"`      // they are to be confirmed, since all of the group was done; else they are undone
}

// WaveSoaking reports that an apply waits after a wave of hosts.
type WaveSoaking struct {
	Wave  int      `json:"wave"`  // its number, from 1
	Hosts []string `json:"hosts"` // that were begun in it
	Soak  float64  `json:"soak_seconds"`
}

// WaveEnded reports how a wave of hosts ended.
type WaveEnded struct {
	Number      int          `json:"wave"`
	Hosts       []string     `json:"hosts"`  // that were begun in it
	Status      apply.Status `json:"status"` // ok, error, incomplete or interrupted
	FailedGates []string     `json:"failed_gates,omitempty"`
	Last        bool         `json:"no_further_wave,omitempty"` // because a gate failed
}

// Checks are the results of the check blocks.
type Checks struct {
	Checks []config.CheckResult `json:"checks"`
}

// Policies are what policies found about the plan.
type Policies struct {
	Policies []verdict.Policy `json:"policies"`
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

// Dropped reports that events were left out, because the reader was too slow or there
// were too many.
type Dropped struct {
	Count int `json:"count"`
}

// End is the last event of every stream.
type End struct {
	Status   apply.Status `json:"status"` // ok, incomplete, error or interrupted
	ExitCode int          `json:"exit_code"`
	Took     float64      `json:"took_seconds"`
}

// All returns one event body of each type, in the order in which a run may send them.
func All() []Body {
	return []Body{Version{}, Diagnostic{}, Note{}, Pull{}, ArtifactChecked{}, ArtifactFetched{}, ResourceAsking{}, ResourceDecided{},
		PlannedChange{}, PlanSummary{}, Drift{},
		ApplyStarted{}, ActionStarted{}, Log{}, Waiting{}, ActionEnded{}, Retrying{}, ResourceEnded{}, Stopping{},
		Settling{}, WaveSoaking{}, WaveEnded{}, Watch{}, ResourceWatch{},
		WatchProcess{},
		RepairStarted{}, RepairEnded{},
		Checks{}, Policies{}, Outputs{}, Report{}, Dropped{}, End{}}
}
