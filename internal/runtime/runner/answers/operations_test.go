package answers

import (
	"slices"
	"strings"
	"testing"
)

func TestInit_OfOperations(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		`"actions":["create","remove"],"operations":{"backup":{"args":["backup"],"label":"Backup","changes":false,"idempotent":true,"config_schema":{}}}`: "",
		`"actions":[]`:                                       "must have 1 to",
		`"actions":["create",""]`:                            "must have 1 to",
		`"actions":"create"`:                                 "must be a list",
		`"operations":{"backup":{}}`:                         "must differ from init",
		`"operations":{"backup":{"args":["state"]}}`:         `must differ from "state_action"`,
		`"operations":{"back up":{"args":["backup"]}}`:       "not a valid name for an operation",
		`"operations":{"backup":{"args":["b"],"more":1}}`:    "operations.backup.more",
		`"operations":{"backup":{"args":["b"],"changes":1}}`: "operations.backup.changes",
		`"operations":["backup"]`:                            "must be an object",
		`"label":"L","protocol":1,"operations":{}`:           "belongs to protocol 2",
		`"label":"L","protocol":1,"actions":["create"]`:      "belongs to protocol 2",
	} {
		answer := `{"state_action":{"args":["state"]},` + members + `}`
		if !strings.Contains(members, "protocol") {
			answer = `{"protocol":2,` + answer[1:]
		}
		ty, err := ReadInit([]byte(answer))
		if want == "" && (err != nil || !slices.Equal(ty.Actions, []string{"create", "remove"}) || ty.Operations["backup"].Changing() ||
			!ty.Operations["backup"].Idempotent) {
			t.Errorf("%s: %+v, %v", answer, ty, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, and %q was wanted", answer, err, want)
		}
	}
}
