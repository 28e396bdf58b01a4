package repair

import (
	"deployster/config"
	"deployster/plan/refresh"
	"deployster/state"
)

// Owed returns a note if a resource that r subscribes to was acted on since r was last VALID, or "".
func Owed(r *config.Resource, e state.Entry, s state.Snapshot) string {
	if len(refresh.Owed(r.Subscribes, e, s, func(string) bool { return false })) == 0 {
		return ""
	}
	return " is owed a refresh"
}
