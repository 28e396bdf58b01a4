package apply

import (
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/protocol"
)

// brought reports whether an answer needs an update in place of the creation that was shown, only because
// something that this apply has created, such as a package, has brought the object meanwhile: nothing is
// destroyed, and the state after the actions is the shown one.
func (r *stepRunner) brought(step *plan.Step, addr string, found protocol.Answer) bool {
	shown := step.Answer()
	return r.queries.Brought(step) && found.StaleState != nil && protocol.Destructive(found.ShutdownFirst, found.Actions) == "" &&
		found.ShutdownFirst == nil && len(shown.Forecast) > 0 && jsondoc.Same(shown.Forecast, found.Forecast) &&
		slices.Equal(shown.UnknownNew, found.Unknown) && (r.options.Allowed == nil || r.options.Allowed(addr, found.Actions))
}
