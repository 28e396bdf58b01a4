package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/state"
)

// Unsettled returns which actions were started on a resource since it was last
// valid, and how they ended; "" when there are none.
func Unsettled(u state.Unsettled) string {
	var parts []string
	for i, a := range u.Actions {
		part := diag.Visible(a.Action) + " was started"
		if i == 0 {
			part += " by " + diag.Visible(u.By.String())
		}
		parts = append(parts, part+": "+outcome(a))
	}
	if len(parts) == 0 {
		return ""
	}
	return "unsettled: " + strings.Join(parts, "; ")
}

func outcome(a state.Attempt) string {
	switch {
	case a.Said == state.Done:
		return "a person said that it ended well"
	case a.Said == state.Failed:
		return "a person said that it failed"
	case a.Exit == nil:
		return "nobody knows how it ended"
	}
	return fmt.Sprintf("it ended with exit code %d", *a.Exit)
}
