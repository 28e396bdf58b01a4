package instance

import "deployster/internal/base/diag"

// Notify is a notify block: an image that gets events.
type Notify struct {
	Name string
	TypeSettings
	On     []string // the events, sorted
	Config Resolved
	Params Resolved // of one of Concourse's images
	Range  diag.Range
}
