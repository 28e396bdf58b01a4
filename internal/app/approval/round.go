package approval

import (
	"errors"

	"deployster/internal/base/diag"
	"deployster/plan"
)

// The summaries of the errors of Approve about what nobody has approved.
const (
	notApproved = "Not approved"
	required    = "Approval required"
)

// Missing reports whether an error of Approve is that something is not approved.
func Missing(err error) bool {
	d, is := errors.AsType[*diag.Diagnostic](err)
	return is && (d.Summary == notApproved || d.Summary == required)
}

// Round returns how the rounds that come after a plan are approved, or why there are none. A saved plan has later rounds only
// if that was decided when it was made.
func (a Approval) Round(p *plan.Plan) (next Approval, why string) {
	next = a
	switch {
	case a.saved && p.Selection.Deferred != "apply":
		return next, "the plan was saved without -deferred=apply"
	case a.demanded:
		return next, "a digest or a signature is required, and -deferred is not given"
	case a.deferred == "stop":
		return next, "-deferred=stop stops before it"
	case a.deferred == "apply" && (a.Mode() == "once" || a.Mode() == Never):
		next.confirm, next.kinds = Never, nil
	case a.deferred == "ask" && a.Mode() == Never:
		next.confirm = "once"
	}
	return next, ""
}

// RoundsOf reads -deferred of a plan command: whether the apply of the saved plan has later rounds.
func RoundsOf(deferred *string, out string) (string, error) {
	switch {
	case deferred == nil || *deferred == "stop":
		return "", nil
	case *deferred != "apply":
		return "", diag.Errorf("Invalid flag value", "-deferred of a plan must be one of apply, stop, and not %q: whether there is "+
			"a prompt is decided by the apply.", diag.Visible(*deferred))
	case out == "":
		return "", diag.Errorf("Missing flag", "-deferred=apply is for the apply of the plan that -out saves, and -out is missing.")
	}
	return "apply", nil
}

// continues reports whether the apply of a plan has later rounds, as far as the options decide that.
func (a Approval) continues(p *plan.Plan) bool {
	_, why := a.Round(p)
	return p.Continues() && why == ""
}
