package typeschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deployster/protocol"
)

func TestCheckConfig_ReportsEachViolation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema, config string
		unknown              []string
		want                 []string // "path: message"
	}{
		{name: "no schema", config: `{"a":1}`},
		{name: "no schema, no object", config: `[]`, want: []string{"config: must be an object, not an array"}},
		{name: "deep path", schema: `{"properties":{"a":{"properties":{"b":{"items":{"type":"string"}}}}}}`, config: `{"a":{"b":["x",7]}}`, want: []string{"config.a.b[1]: must be a string, not a number"}},
		{name: "several, sorted", schema: `{"required":["x","y"],"properties":{"b":{"minimum":1},"a":{"maxLength":1}}}`, config: `{"b":0,"a":"long"}`,
			want: []string{`config: lacks "x", which is required`, `config: lacks "y", which is required`, "config.a: must have at most 1 characters", "config.b: must be at least 1"}},
		{name: "unknown property", schema: `{"additionalProperties":false,"properties":{"size":{}}}`, config: `{"sise":1}`, want: []string{"config: has no property \"sise\". Did you mean \"size\"?"}},
		{name: "enum", schema: `{"properties":{"z":{"enum":["a",1,null]}}}`, config: `{"z":"secret"}`, want: []string{`config.z: must be one of "a", 1, null`}},
		{name: "const", schema: `{"properties":{"z":{"const":{"a":1}}}}`, config: `{"z":"secret"}`, want: []string{`config.z: must be {"a":1}`}},
		{name: "pattern", schema: `{"properties":{"z":{"pattern":"^a+$"}}}`, config: `{"z":"secret"}`, want: []string{"config.z: must match the pattern ^a+$"}},
		{name: "format is asserted", schema: `{"properties":{"z":{"format":"ipv4"}}}`, config: `{"z":"secret"}`, want: []string{"config.z: must have the format ipv4"}},
		{name: "format is asserted in later drafts too", schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"z":{"format":"ipv4"}}}`, config: `{"z":"secret"}`, want: []string{"config.z: must have the format ipv4"}},
		{name: "exact integers", schema: `{"properties":{"z":{"maximum":9007199254740992}}}`, config: `{"z":9007199254740993}`, want: []string{"config.z: must be at most 9007199254740992"}},
		{name: "exact decimals", schema: `{"properties":{"z":{"multipleOf":0.01}}}`, config: `{"z":19.99}`},
		{name: "not a multiple", schema: `{"properties":{"z":{"multipleOf":0.25}}}`, config: `{"z":0.3}`, want: []string{"config.z: must be a multiple of 0.25"}},
		{name: "ref", schema: `{"definitions":{"p":{"type":"integer"}},"properties":{"z":{"$ref":"#/definitions/p"}}}`, config: `{"z":"1"}`, want: []string{"config.z: must be an integer, not a string"}},
		{name: "ref to $defs", schema: `{"$defs":{"p":{"type":"integer"}},"properties":{"z":{"$ref":"#/$defs/p"}}}`, config: `{"z":"1"}`, want: []string{"config.z: must be an integer, not a string"}},
		{name: "draft 7 by default", schema: `{"properties":{"z":{"items":[{"type":"string"}]}}}`, config: `{"z":[1]}`, want: []string{"config.z[0]: must be a string, not a number"}},
		{name: "2020-12 when asked", schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"z":{"prefixItems":[{"type":"string"}]}}}`, config: `{"z":[1]}`, want: []string{"config.z[0]: must be a string, not a number"}},
		{name: "without end", schema: `{"$ref":"#"}`, config: `{}`, want: []string{"config: cannot be checked, because the schema refers to itself without end"}},
		{name: "property names", schema: `{"propertyNames":{"pattern":"^[a-z]+$"}}`, config: `{"A1":1}`, want: []string{"config: must match the pattern ^[a-z]+$"}},
		{name: "unique", schema: `{"properties":{"z":{"uniqueItems":true}}}`, config: `{"z":[1,2,1]}`, want: []string{"config.z: the items 0 and 2 are equal, and must all differ"}},
		{name: "dependencies", schema: `{"dependencies":{"a":["b"]}}`, config: `{"a":1}`, want: []string{`config: with "a" there must also be "b"`}},
		{name: "false", schema: `{"properties":{"z":false}}`, config: `{"z":1}`, want: []string{"config.z: is not allowed here"}},
		{name: "nearest of the alternatives", schema: `{"properties":{"z":{"oneOf":[{"type":"string"},{"type":"object","required":["a","b"]}]}}}`, config: `{"z":1}`, want: []string{"config.z: must be a string, not a number (or one of 1 other forms)"}},
		{name: "odd keys", schema: `{"additionalProperties":{"type":"string"}}`, config: `{"a/b~c":1}`, want: []string{"config.a/b~c: must be a string, not a number"}},
		{name: "escapes in keys", schema: `{"additionalProperties":false}`, config: `{"a\u001b[2J":1}`, want: []string{`config: has no property "a\x1b[2J"`}},

		{name: "unknown value", schema: `{"properties":{"ip":{"type":"string"},"n":{"type":"number"}}}`, config: `{"ip":{"$unknown":"r"},"n":"x"}`, unknown: []string{"/ip"}, want: []string{"config.n: must be a number, not a string"}},
		{name: "below an unknown", schema: `{"properties":{"o":{"properties":{"$unknown":{"type":"number"}}}}}`, config: `{"o":{"$unknown":"r"}}`, unknown: []string{"/o"}},
		{name: "beside an unknown of like name", schema: `{"properties":{"ip":{},"ip2":{"type":"number"}}}`, config: `{"ip":null,"ip2":"x"}`, unknown: []string{"/ip"}, want: []string{"config.ip2: must be a number, not a string"}},
		{name: "all unknown", schema: `{"required":["a"]}`, config: `{"$unknown":"r"}`, unknown: []string{""}},
		{name: "unknown in a list", schema: `{"properties":{"l":{"items":{"type":"string"},"uniqueItems":true,"minItems":3}}}`, config: `{"l":[null,null]}`, unknown: []string{"/l/0", "/l/1"}, want: []string{"config.l: must have at least 3 items"}},
		{name: "an alternative may match yet", schema: `{"oneOf":[{"required":["a"],"properties":{"a":{"const":"x"}}},{"required":["b"]}]}`, config: `{"a":null}`, unknown: []string{"/a"}},
		{name: "no alternative can match", schema: `{"oneOf":[{"required":["c"]},{"required":["b"]}]}`, config: `{"a":null}`, unknown: []string{"/a"}, want: []string{`config: lacks "c", which is required (or one of 1 other forms)`}},
		{name: "not", schema: `{"not":{"properties":{"a":{"type":"null"}}}}`, config: `{"a":null}`, unknown: []string{"/a"}},
		{name: "const above an unknown", schema: `{"properties":{"o":{"const":{"a":"x"}}}}`, config: `{"o":{"a":null}}`, unknown: []string{"/o/a"}},
		{name: "if that hangs on an unknown", schema: `{"if":{"properties":{"a":{"const":"x"}}},"else":{"required":["b"]}}`, config: `{"a":null}`, unknown: []string{"/a"}},
		{name: "if that does not", schema: `{"if":{"properties":{"a":{"const":"x"}}},"else":{"required":["b"]}}`, config: `{"a":"y"}`, want: []string{`config: lacks "b", which is required`}},
		{name: "required beside an unknown", schema: `{"required":["b"]}`, config: `{"a":null}`, unknown: []string{"/a"}, want: []string{`config: lacks "b", which is required`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			unknown := map[string]string{}
			for _, p := range c.unknown {
				unknown[p] = "resource.r.state.x"
			}
			var got []string
			for _, v := range new(Checker).CheckConfig(protocol.Type{Reference: "acme/file:1", ConfigSchema: json.RawMessage(c.schema)}, json.RawMessage(c.config), unknown) {
				got = append(got, v.Path+": "+v.Message)
				if strings.Contains(v.Message, "secret") {
					t.Errorf("a value of the config is in the message %q", v.Message)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestCheckConfig_BadSchema(t *testing.T) {
	t.Parallel()
	got := new(Checker).CheckConfig(protocol.Type{Reference: "acme/file:1", ConfigSchema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)}, json.RawMessage(`{}`), nil)
	if len(got) != 1 || !strings.Contains(got[0].Message, "acme/file:1") {
		t.Errorf("%+v", got)
	}
	got = new(Checker).CheckConfig(protocol.Type{Reference: "acme/file:1"}, json.RawMessage(`{"a":1,"a":2}`), nil)
	if len(got) != 1 || !strings.Contains(got[0].Message, "twice") {
		t.Errorf("%+v", got)
	}
}

func TestCheckConfig_Concurrently(t *testing.T) {
	t.Parallel()
	c := &Checker{}
	ty := protocol.Type{ConfigSchema: json.RawMessage(`{"properties":{"a":{"$ref":"#/definitions/s"}},"definitions":{"s":{"type":"string"}}}`)}
	done := make(chan int)
	for range 8 {
		go func() { done <- len(c.CheckConfig(ty, json.RawMessage(`{"a":1}`), nil)) }()
	}
	for range 8 {
		if n := <-done; n != 1 {
			t.Errorf("%d violations", n)
		}
	}
}
