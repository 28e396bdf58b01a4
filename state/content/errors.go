package content

import (
	"errors"

	"deployster/state/place"
)

// What is wrong with the bytes of a state file. The errors of this package carry a
// *diag.Diagnostic for the user, and wrap one of these.
var (
	ErrDamaged = place.ErrDamaged
	ErrNewer   = place.ErrNewer
	ErrForeign = errors.New("not a deployster state, or another one")
)
