package state

import (
	"errors"

	"deployster/internal/base/diag"
	"deployster/state/content"
	"deployster/state/place"
)

// These errors report what is wrong with a state, for callers that must distinguish the
// cases. The errors of this package carry a *diag.Diagnostic for the user, and wrap one
// of these or the cause.
var (
	ErrLocked  = place.ErrLocked
	ErrDamaged = content.ErrDamaged
	ErrNewer   = content.ErrNewer
	ErrForeign = content.ErrForeign
	ErrBroken  = errors.New("the journal can no longer be written")
	ErrNoCopy  = errors.New("the state was written, and no copy of it could be kept")
	ErrArrives = errors.New("the move of the state to this place did not finish")
)

// refuse words an error for the user, unless it is a diagnostic already.
func refuse(cause error, summary, detail string, args ...any) error {
	if diag.Is[*diag.Diagnostic](cause) && !errors.Is(cause, ErrBroken) && !errors.Is(cause, ErrNoCopy) {
		return cause
	}
	return diag.Because(cause, summary, detail, args...)
}
