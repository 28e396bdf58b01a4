package layout

import (
	"crypto/sha256"
	"fmt"
)

// The labels on the containers of a run. Labels of the image are never copied: containerd
// acts on some labels (CVE-2026-53488).
const (
	LabelTool   = "deployster"        // the version of this layout
	LabelClient = "deployster.client" // the path of the client's file
	LabelKind   = "deployster.kind"   // runner.Kind
	LabelName   = "deployster.name"   // for people
	LabelAction = "deployster.action" // ActionName of a runner.Spec's ID

	LabelWorker = "deployster.worker" // it is a worker or Shared, whose open requests are in its ledger

	Shared = "shared" // the LabelWorker of a container that actions share
)

// ActionName derives a name of limited length from the ID of an action.
func ActionName(id string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(id))) }

// LeaseOf returns the name of a client's lease.
func LeaseOf(client string) string { return "deployster-" + client }

// LabelText shortens a text for the value of a label, whose length containerd limits.
func LabelText(s string) string {
	return s[:min(len(s), 1024)]
}
