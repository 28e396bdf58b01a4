package render

import (
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/plan/change"
)

// Of what was destroyed and not made again the report says that it is gone.
func TestReport_HalfReplaced(t *testing.T) {
	t.Parallel()
	p := planOf([]string{"a"}, map[string]*plan.Step{"a": {Part: &change.Replace{}}})
	p.Moves = nil
	r := &apply.Report{Status: apply.Error, Resources: map[string]*apply.ResourceReport{
		"a": {Status: apply.Error, Completed: []string{"remove"}, Failed: apply.FailedReplace, Reason: "not created again"}}}
	if text := Report(p, r, nil, Options{}); !strings.Contains(text, "not created again") {
		t.Error(text)
	}
}
