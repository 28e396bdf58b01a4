package stateview

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/state/actions"
)

// Unsettled returns which actions were started on a resource since it was last valid, and
// their outcomes as far as they are known; "" when there are none. running has the keys
// of the actions without an outcome that are still running.
func Unsettled(u actions.Unsettled, running map[string]bool) string {
	var parts []string
	for i, a := range u.Actions {
		part := outcome(u, a, running) + ": " + diag.Visible(a.Action)
		if i == 0 {
			part += ", started by " + diag.Visible(u.By.String())
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func outcome(u actions.Unsettled, a actions.Attempt, running map[string]bool) string {
	switch {
	case a.Said == actions.Done:
		return "recorded as done by a person"
	case a.Said == actions.Failed:
		return "recorded as failed by a person"
	case a.Exit == nil && u.By.Running():
		return "in progress"
	case a.Exit == nil && running[a.Key]:
		return "still runs"
	case a.Exit == nil:
		return "outcome unknown"
	case *a.Exit == 0:
		return "done, and not seen to be valid since"
	}
	return fmt.Sprintf("failed with exit code %d", *a.Exit)
}
