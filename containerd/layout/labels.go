package layout

import (
	"crypto/sha256"
	"fmt"
)

// The labels on what belongs to a run. Those of the image are never taken
// over: containerd acts on some labels (CVE-2026-53488).
const (
	LabelTool   = "deployster"        // the version of this layout
	LabelClient = "deployster.client" // the path of the client's file
	LabelKind   = "deployster.kind"   // runner.Kind
	LabelName   = "deployster.name"   // for people
	LabelAction = "deployster.action" // actionName of an runner.Spec's ID

	LabelWorker = "deployster.worker" // it is spoken to, and what it is asked for is in its ledger
)

// ActionName makes a name of limited length from the ID of an action.
func ActionName(id string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(id))) }

// LeaseOf is the name of a client's lease.
func LeaseOf(client string) string { return "deployster-" + client }

// LabelText makes a text fit for a label, whose value containerd limits.
func LabelText(s string) string {
	return s[:min(len(s), 1024)]
}
