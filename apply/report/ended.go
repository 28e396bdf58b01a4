package report

import (
	"deployster/internal/base/diag"
	"deployster/plan/order"
)

// Values of ResourceReport.Failed that are not actions, next to FailedRemoval and FailedReplace.
const (
	FailedConfig  = "config"
	FailedState   = "state"
	FailedJournal = "journal"

	FailedInternal = "internal" // a fault of this program
	FailedApproval = "approval" // its next action was not approved
	FailedSoak     = "soak"     // it was not VALID after the soak of its wave
	FailedIdentity = "identity" // it turned out to mean the object of another resource

	FailedPrecondition  = "precondition"
	FailedPostcondition = "postcondition"
)

// Ended is how the work on a node of the plan ended.
type Ended struct {
	Addr    string
	Node    string // its name in plan.Nodes
	What    order.NodeKind
	Report  ResourceReport
	Problem *diag.Diagnostic
	Fatal   bool // the journal or this program failed: nothing new may start
	Acted   bool // an action was started
	Gone    bool // its host could not be used
}

// Old reports whether the node is the end of the old object of a replaced resource.
func (e *Ended) Old() bool { return e.What == order.Old }

// Begun reports whether a node was carried out, or a part of it.
func (e *Ended) Begun() bool {
	return e.Acted || e.Report.Status == OK || e.Report.Status == Skipped
}

// Failed reports whether nothing that depends on the node may start.
func (e *Ended) Failed() bool {
	return e.Report.Status == Error || e.Report.Status == Interrupted || e.Report.Status == Unknown
}
