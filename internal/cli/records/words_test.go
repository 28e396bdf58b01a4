package records

import (
	"strings"
	"testing"

	"deployster/internal/app/runs"
)

// The table has a column for hosts where a step was on one.
func TestStepTable_Hosts(t *testing.T) {
	t.Parallel()
	here, there := runs.Step{Resource: "vm", Step: "state"}, runs.Step{Resource: "motd", Step: "make", Host: `web["a"]`}
	for want, list := range map[string][]runs.Step{
		"RESOURCE,STEP|vm,state":                          {here},
		`RESOURCE,HOST,STEP|vm,,state|motd,web["a"],make`: {here, there},
	} {
		var rows []string
		for _, row := range stepTable(runs.Run{}, list) {
			rows = append(rows, strings.Join(row[:len(row)-3], ","))
		}
		if got := strings.Join(rows, "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
