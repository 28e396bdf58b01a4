package objects

import (
	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// Protected returns the error for a replacement of a resource that must not be destroyed.
func Protected(because string, why *reason.Reason) *diag.Diagnostic {
	return diag.Errorf("Protected resource would be replaced",
		"%s, and to replace it would destroy it (%s). To replace it, first apply it with prevent_destroy = false, and nothing else "+
			"changed.", because, why.Words())
}

// CannotCreateFirst returns the error for a resource that must be created first but cannot.
func CannotCreateFirst(because string, why *reason.Reason) *diag.Diagnostic {
	return diag.Errorf("The new object cannot be created first", "It has create_before_destroy = true, or a dependant has, but %s "+
		"(%s). Without create_before_destroy, it is destroyed first.", because, why.Words())
}

// TwoAppliesNote returns the note that a resource may take two applies: it has an entry, and whether it means another object becomes
// known only during apply. apart reports that the entry does not matter, first that the new object is to be created first.
func TwoAppliesNote(ty protocol.Type, unknown map[string]string, entry state.Entry, apart, first bool) *reason.Reason {
	if apart || entry.Type == "" || entry.ReadOnly || Known(ty, unknown) {
		return nil
	}
	if first {
		return reason.New(reason.TwoAppliesFirst)
	}
	return reason.New(reason.TwoApplies)
}
