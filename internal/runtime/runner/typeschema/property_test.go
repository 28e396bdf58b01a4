package typeschema

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestFindProperty_FollowsReferences(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"required":["name","where"],"$defs":{"zone":{"type":"string","enum":["eu","us"],"default":"eu"},"round":{"$ref":"#/$defs/round"}},
		"properties":{"name":{"type":"string"},"port":{"type":"integer","default":80},"tag":{"type":["string","null"]},"key":{"writeOnly":true},"round":{"$ref":"#/$defs/round"},
			"where":{"required":["host"],"properties":{"zone":{"$ref":"#/$defs/zone"},"host":{"type":"string"}}},
			"maybe":{"required":["id"],"properties":{"id":{"type":"number"}}}},
		"allOf":[{"properties":{"more":{"type":"boolean"}},"required":["more"]}]}`)
	for pointer, want := range map[string]string{
		"/name":       "true  string [] false",
		"/port":       "true 80 integer [] false",
		"/tag":        "false   [] false",
		"/key":        "false   [] true",
		"/where/zone": `true "eu" string [eu us] false`,
		"/where/host": "true  string [] false",
		"/maybe/id":   "false  number [] false",
		"/more":       "true  boolean [] false",
		"/round":      "false   [] false",
		"/nothing":    "none",
		"/name/in":    "none",
	} {
		got := "none"
		if p, found := new(Schemas).FindProperty(schema, pointer); found {
			got = fmt.Sprintf("%v %s %s %v %v", p.Always, p.Default, p.Scalar, p.Enum, p.WriteOnly)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", pointer, got, want)
		}
	}
}
