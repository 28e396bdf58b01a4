package typeschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

// doubling is a schema of which each definition leads to the next one twice,
// so that whoever follows every way goes 2^depth ways.
func doubling(depth int, last string) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
	for i := range depth {
		next := fmt.Sprintf(`{"$ref":"#/definitions/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d":{"anyOf":[%s,%s]},`, i, next, next)
	}
	fmt.Fprintf(&b, `"d%d":%s}}`, depth, last)
	return json.RawMessage(b.String())
}

func TestCheckConfig_HostileSchemaEnds(t *testing.T) {
	t.Parallel()
	c := &Checker{}
	c.limit = 20 * time.Millisecond
	// Deep enough to be far beyond the limit, and to end soon after the test.
	ty := protocol.Type{Reference: "acme/file:1", ConfigSchema: doubling(16, `{"type":"string"}`)}
	for range 2 {
		got := c.CheckConfig(ty, json.RawMessage(`{}`), nil)
		if len(got) != 1 || got[0].Path != "config" || !strings.Contains(got[0].Message, "takes too long to check") || !strings.Contains(got[0].Message, "acme/file:1") {
			t.Errorf("%+v", got)
		}
		c.limit = time.Hour // the second check would end, if it were tried
	}
	c.limit = 20 * time.Millisecond
	got := c.CheckState(protocol.Type{Reference: "acme/file:1", StateSchema: doubling(16, `{"type":"number"}`)}, json.RawMessage(`{}`))
	if len(got) != 1 || !strings.Contains(got[0].Message, "takes too long to check") {
		t.Errorf("state: %v", got)
	}
	if got := new(Checker).CheckConfig(protocol.Type{ConfigSchema: doubling(4, `{"type":"object"}`)}, json.RawMessage(`{}`), nil); len(got) != 0 {
		t.Errorf("a small one: %+v", got)
	}
}

// TestCheckConfig_HasAnEnd: before its time is up a check has used its steps, and the
// next one begins with all of them again.
func TestCheckConfig_HasAnEnd(t *testing.T) {
	t.Parallel()
	for _, draft := range []string{"", "https://json-schema.org/draft/2020-12/schema"} {
		c := &Checker{}
		c.limit = time.Minute
		ty := protocol.Type{Reference: "acme/file:1", ConfigSchema: doubling(60, `{"type":"string"}`)}
		honest := protocol.Type{Reference: "acme/file:1", ConfigSchema: json.RawMessage(`{"properties":{"a":{"items":{"type":"number"}}}}`)}
		if draft != "" {
			for _, s := range []*json.RawMessage{&ty.ConfigSchema, &honest.ConfigSchema} {
				*s = json.RawMessage(strings.Replace(string(*s), "{", `{"$schema":"`+draft+`",`, 1))
			}
		}
		if got := c.CheckConfig(ty, json.RawMessage(`{}`), nil); len(got) != 1 || !strings.Contains(got[0].Message, "takes too long") {
			t.Errorf("%s: %+v", draft, got)
		}
		large := json.RawMessage(`{"a":[0` + strings.Repeat(",1", maxSteps/8) + `]}`)
		for range 6 {
			if got := c.CheckConfig(honest, large, nil); len(got) != 0 {
				t.Errorf("%s: %+v", draft, got)
			}
		}
	}
}

// TestWriteOnly_HostileSchema would not end if each way were followed.
func TestWriteOnly_HostileSchema(t *testing.T) {
	t.Parallel()
	schema := doubling(200, `{"properties":{"pin":{"writeOnly":true},"inner":{"$ref":"#/definitions/d0"}}}`)
	got := new(Schemas).WriteOnly(schema, json.RawMessage(`{"pin":1,"inner":{"pin":2,"other":3}}`))
	if want := []string{"/inner/pin", "/pin"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWriteOnly_GivesUpSafely: what cannot be looked through is all hidden.
func TestWriteOnly_GivesUpSafely(t *testing.T) {
	t.Parallel()
	schema := map[string]any{"properties": map[string]any{"pin": map[string]any{"writeOnly": true}}}
	value := map[string]any{"pin": "x"}
	for limit, want := range map[int]string{1: "", 2: "/pin"} {
		w := markFinder{keyword: writeOnly, root: schema, limit: limit, seen: map[visit]bool{}}
		if got := w.find(value); !slices.Equal(got, []string{want}) {
			t.Errorf("within %d steps: got %q, want %q", limit, got, want)
		}
	}
}
