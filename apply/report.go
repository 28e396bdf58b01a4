package apply

import (
	"deployster/apply/latehost"
	"deployster/apply/report"
	"deployster/internal/base/diag"
	"deployster/plan"
)

// Reacher reaches hosts that become known only during apply.
type Reacher = latehost.Reacher

// What Run returns is made in apply/report.
type (
	Report         = report.Report
	ResourceReport = report.ResourceReport
	HostReport     = report.HostReport
	ShutdownReport = report.ShutdownReport
	Status         = report.Status
	Change         = plan.Change
)

// The statuses of a report.
const (
	OK          = report.OK
	Incomplete  = report.Incomplete
	Unchanged   = report.Unchanged
	Skipped     = report.Skipped
	Error       = report.Error
	Interrupted = report.Interrupted
	Left        = report.Left
	Kept        = report.Kept
	NotStarted  = report.NotStarted
	Unknown     = report.Unknown
	Unreachable = report.Unreachable
)

// Values of ResourceReport.Failed: a resource was destroyed and not created again, or was not VALID
// after the soak of its wave.
const (
	FailedReplace = report.FailedReplace
	FailedSoak    = report.FailedSoak
)

// Refused returns the report of an apply that was refused before anything was run. The
// plan may be nil.
func Refused(p *plan.Plan, status Status, why diag.Diagnostics) *Report {
	return report.Refused(p, status, why)
}
