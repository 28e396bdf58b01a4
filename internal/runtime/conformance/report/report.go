package report

import "deployster/internal/runtime/conformance/recording"

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Skip Verdict = "skip"
)

// Check is one rule of the protocol, and whether the image keeps it.
type Check struct {
	Name      string               `json:"name"`
	Title     string               `json:"title"` // what is true when the check passes
	Verdict   Verdict              `json:"verdict"`
	Reason    string               `json:"reason,omitempty"` // why it failed or was skipped; a remark if it passed
	Fix       string               `json:"fix,omitempty"`    // what the author must do
	Exchanges []recording.Exchange `json:"exchanges,omitempty"`
}

// Report is the outcome of a run.
type Report struct {
	Format     int     `json:"format"` // 1
	Image      string  `json:"image"`
	Digest     string  `json:"digest"`
	Label      string  `json:"label,omitempty"`
	Protocol   int     `json:"protocol"`
	Speaks     string  `json:"speaks,omitempty"` // for an image of artifacts: concourse-1 or artifacts-2
	Status     Verdict `json:"status"`           // pass, or fail if a check failed
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"`
	Skipped    int     `json:"skipped"`
	LeftBehind bool    `json:"left_behind"` // an object that the test made exists or may exist
	Millis     int64   `json:"duration_ms"`
	Checks     []Check `json:"checks"`
}

// Add adds a check that has ended.
func (r *Report) Add(c Check) {
	switch c.Verdict {
	case Pass:
		r.Passed++
	case Fail:
		r.Failed++
		r.Status = Fail
	case Skip:
		r.Skipped++
	}
	r.Checks = append(r.Checks, c)
}
