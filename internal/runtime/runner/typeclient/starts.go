package typeclient

import (
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// startError returns the error of an invocation that a cluster did not start.
func startError(k call, e *runner.StartError, err error) error {
	title := strings.ToUpper(string(e.Fault[:1])) + string(e.Fault[1:])
	if h := k.settings.Host; h != nil && (e.Fault == runner.NotStarted || e.Fault == runner.NotPulled) {
		title += " on " + diag.Visible(h.Name)
	}
	return fail(k, err, title, "%s of image %s: %s. It was not begun. %s", k.title(), diag.Visible(k.target.Reference),
		strings.TrimSuffix(diag.Visible(e.Text), "."), e.Fault.Advice())
}

// lostPodError returns the error of an action whose Pod may still run it.
func lostPodError(k call, e *runner.UnknownError, err error) error {
	return fail(k, err, "An action may still run on "+diag.Visible(k.settings.Host.Name),
		"%s of image %s: %s. It is not started again before its end is known: apply again to see. Once it surely runs no more: "+
			"`deployster resolve -as=failed '%s'`.", k.title(), diag.Visible(k.target.Reference),
		strings.TrimSuffix(diag.Visible(e.Err.Error()), "."), k.target.Address)
}
