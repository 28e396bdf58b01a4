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
