package approval

import (
	"strings"
	"testing"

	"deployster/plan"
)

// The plan that is to be saved is the one that nobody said yes to.
func TestNobody_NamesThePlanToSave(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Selection: plan.Selection{Destroy: true, Targets: []string{`a["k"]`}, Excludes: []string{"b"}}}
	err := Approval{}.nobody(p, nil)
	if want := "`deployster plan -destroy '-target=a[\"k\"]' -exclude=b -out=plan.bin`"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
