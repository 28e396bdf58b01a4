package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is forecast is known, what is declared is typed, and nothing else is
// there.
func TestStates_PartlyKnownAreTyped(t *testing.T) {
	t.Parallel()
	closed := `{"type":"object","properties":{"zone":{"type":"string"},"size":{"type":"integer"},"at":{"type":"object","properties":{"x":{"type":"number"}}}}}`
	open := `{"type":"object","additionalProperties":true,"properties":{"size":{"type":"integer"},"list":{"type":"array","items":{"type":"string"}}}}`
	for _, c := range []struct{ schema, Sized, expr, want string }{
		{closed, "", `resource.a.state.zone`, "resource.a.state.zone"},
		{closed, "", `resource.a.state.zne`, `error: resource.a.state has no attribute "zne": there are at, size and zone. Did you mean "zone"?`},
		{closed, "", `resource.a.state["zne"]`, "error: "},
		{closed, "", `resource.a.state`, "resource.a.state"},
		{closed, "", `keys(resource.a.state)`, `resource.a.state`},
		{`{"type":"object","required":["a"],"properties":{"a":{}}}`, "", `keys(resource.a.state)`, `known ["a"]`},
		{closed, "", `try(resource.a.state.zne, "none")`, `known "none"`},
		{closed, `{"zone":"b"}`, `resource.a.state.zone`, `known "b"`},
		{closed, `{"zone":"b"}`, `resource.a.state.size`, `resource.a.state.size`},
		{closed, `{"zone":"b"}`, `resource.a.state.sise`, `error: resource.a.state has no attribute "sise"`},
		{closed, `{"zone":"b","at":{}}`, `resource.a.state.at.y`, `error: resource.a.state.at has no attribute "y"`},
		{closed, `{"zone":"b","at":{}}`, `resource.a.state.at.x`, `resource.a.state.at.x`},
		{open, "", `resource.a.state.other.thing`, "resource.a.state.other.thing"},
		{open, "", `resource.a.state.list + 1`, "error: "},
		{open, "", `[resource.a.state, resource.a.state.list]`, "resource.a.state, resource.a.state.list"},
		{open, `{"size":1}`, `resource.a.state.other`, "resource.a.state.other"},
		{open, "", `[for x in resource.a.state.list : x.y]`, "error: "},
		{"", "", `[for x in resource.a.state.list : x.y]`, "resource.a.state.list"},
	} {
		m := load(t, fmt.Sprintf(typed, c.expr))
		state := ResourceState{Schema: []byte(c.schema)}
		if c.Sized != "" {
			state.Known = []byte(c.Sized)
		}
		outputs, diags := m.Outputs(States{"a": state})
		got := ""
		switch {
		case len(diags) > 0:
			got = "error: " + diags[0].Detail
			if len(diags) > 1 {
				t.Errorf("%s: several errors: %v", c.expr, diags)
			}
		case len(outputs[0].Unknown) > 0:
			var refs []string
			for _, name := range slices.Sorted(maps.Keys(outputs[0].Unknown)) {
				refs = append(refs, outputs[0].Unknown[name])
			}
			got = strings.Join(refs, ", ")
		default:
			got = "known " + string(outputs[0].Value)
		}
		if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(c.want, ": ") && !strings.HasPrefix(c.want, "error") && got != c.want {
			t.Errorf("%s of %s: %s\nwant %s", c.expr, c.Sized, got, c.want)
		}
	}
}

// The bodies of loops that are not entered yet are tried within the same limits
// as everything.
func TestLoops_TriedAreLimited(t *testing.T) {
	t.Parallel()
	schema := []byte(`{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}}}}`)
	m := load(t, fmt.Sprintf(typed, `[for x in resource.a.state.list : [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : "${x}"]]]]`))
	start := time.Now()
	_, diags := m.Outputs(States{"a": {Schema: schema}})
	if took := time.Since(start); took > time.Minute || len(diags) != 1 || diags[0].Summary != "Too much to evaluate" {
		t.Errorf("%s: %v", took, diags)
	}
}

const typed = `
resource "a" {
  type = "acme/file:1"
}
output "o" {
  value = %s
}
`
