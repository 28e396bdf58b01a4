package typeclient

import (
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// startAdvice returns what a user may do after a fault of a start.
func startAdvice(f runner.StartFault) string {
	switch f {
	case runner.NotPulled:
		return "See that the nodes of the cluster may pull it: image_pull_secrets and registries in the kubernetes block of the host."
	case runner.PodRefused:
		return "See the rules of the namespace (docs/kubernetes.md), then write in the type block what they require."
	case runner.PodChanged:
		return "See which admission webhooks change Pods of this namespace."
	case runner.NotPossible, runner.NotPushed:
		return "See docs/kubernetes.md for what a Pod needs and can have."
	}
	return "Remove the cause, or give it more time: start_timeout in the kubernetes block of the host."
}

// startError returns the error of an invocation that a cluster did not start.
func startError(k call, e *runner.StartError, err error) error {
	title := strings.ToUpper(string(e.Fault[:1])) + string(e.Fault[1:])
	if h := k.settings.Host; h != nil && (e.Fault == runner.NotStarted || e.Fault == runner.NotPulled) {
		title += " on " + diag.Visible(h.Name)
	}
	return fail(k, err, title, "%s of image %s: %s. It was not begun. %s", k.title(), diag.Visible(k.target.Reference),
		strings.TrimSuffix(diag.Visible(e.Text), "."), startAdvice(e.Fault))
}

// lostPodError returns the error of an action whose Pod may still run it.
func lostPodError(k call, e *runner.UnknownError, err error) error {
	return fail(k, err, "An action may still run on "+diag.Visible(k.settings.Host.Name),
		"%s of image %s: %s. It is not started again before its end is known: apply again to see. Once it surely runs no more: "+
			"`deployster resolve -as=failed '%s'`.", k.title(), diag.Visible(k.target.Reference),
		strings.TrimSuffix(diag.Visible(e.Err.Error()), "."), k.target.Address)
}
