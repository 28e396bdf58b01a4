package compare

import (
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/plan/change"
	"deployster/protocol"
)

// Updates reports whether what was found is an update without a destruction that leads to the very
// state that was shown.
func Updates(shown *change.Answer, found protocol.Answer) bool {
	return found.StaleState != nil && protocol.Destructive(found.ShutdownFirst, found.Actions) == "" && found.ShutdownFirst == nil &&
		len(shown.Forecast) > 0 && jsondoc.Same(shown.Forecast, found.Forecast) && slices.Equal(shown.UnknownNew, found.Unknown)
}

// Unforecast reports a value of the reached state that the answer before the actions did not forecast; "" = there is
// none, or the answer does not bind itself.
func Unforecast(before, reached protocol.Answer) string {
	if before.MayDiffer {
		return ""
	}
	return jsondoc.Unfulfilled(before.Forecast, reached.State, before.Unknown)
}
