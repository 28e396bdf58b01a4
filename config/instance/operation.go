package instance

import "deployster/internal/base/diag"

// Operation is an operation block: what a watch runs on a resource by a schedule.
type Operation struct {
	Name     string
	Resource string // its address
	Run      string // the name of the operation
	Input    Resolved
	Schedule string // five fields of cron, in UTC
	Range    diag.Range
}
