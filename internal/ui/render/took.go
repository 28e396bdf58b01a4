package render

import (
	"time"

	"deployster/plan"
)

// Took formats a duration that has ended: 340ms, 1.2s, 3m5s.
func Took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// Past returns the past participle of a change: created, updated.
func Past(c plan.Change) string {
	switch c {
	case plan.Create:
		return "created"
	case plan.Publish:
		return "published"
	case plan.Replace:
		return "replaced"
	case plan.Destroy:
		return "destroyed"
	case plan.Forget:
		return "forgotten"
	case plan.Record, plan.Left:
		return "recorded"
	case plan.Deferred:
		return "done"
	}
	return "updated"
}
