package typeschema

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestWriteOnly_FindsNestedProperties(t *testing.T) {
	schema := json.RawMessage(`{
		"definitions": {"secret": {"type": "string", "writeOnly": true}, "loop": {"$ref": "#/definitions/loop"}},
		"properties": {
			"user":  {"type": "string"},
			"word":  {"$ref": "#/definitions/secret"},
			"keys":  {"items": {"properties": {"private": {"writeOnly": true}}}},
			"other": {"allOf": [{"properties": {"pin": {"writeOnly": true}}}]},
			"loop":  {"$ref": "#/definitions/loop"},
			"env":   {"additionalProperties": {"writeOnly": true}}}}`)
	config := json.RawMessage(`{"env":{"A":"1"},"keys":[{"private":"x"},{"public":"y"}],"loop":1,"other":{"pin":1},"user":"u","word":"w"}`)
	got := new(Schemas).WriteOnly(schema, config)
	want := []string{"/env/A", "/keys/0/private", "/other/pin", "/word"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWriteOnly_WhereverASchemaMarks(t *testing.T) {
	const mark = `{"writeOnly":true}`
	for name, c := range map[string]struct{ schema, value, want string }{
		"a pattern of names":            {`{"patternProperties":{"^key_":` + mark + `}}`, `{"key_a":"s","other":"o"}`, "/key_a"},
		"a pattern that cannot be read": {`{"patternProperties":{"(?!a)":` + mark + `}}`, `{"a":"s"}`, "/a"},
		"other names than of a pattern": {`{"patternProperties":{"^n":{}},"additionalProperties":` + mark + `}`, `{"n":1,"p":2}`, "/p"},
		"properties not seen before":    {`{"properties":{"a":{}},"unevaluatedProperties":` + mark + `}`, `{"a":1,"b":2}`, "/b"},
		"a position in a list":          {`{"prefixItems":[{},` + mark + `],"items":{}}`, `["a","s","b"]`, "/1"},
		"a position, as drafts had it":  {`{"items":[{},` + mark + `]}`, `["a","s","b"]`, "/1"},
		"after the positions of a list": {`{"items":[{}],"additionalItems":` + mark + `}`, `["a","s"]`, "/1"},
		"where a condition holds":       {`{"if":{},"then":{"properties":{"p":` + mark + `}}}`, `{"p":"s"}`, "/p"},
		"where another property is":     {`{"dependentSchemas":{"u":{"properties":{"p":` + mark + `}}}}`, `{"p":"s","u":1}`, "/p"},
		"a reference into a list":       {`{"properties":{"p":{"$ref":"#/$defs/either/oneOf/1"}},"$defs":{"either":{"oneOf":[{},` + mark + `]}}}`, `{"p":"s","q":1}`, "/p"},
		"a reference with an escape":    {`{"properties":{"p":{"$ref":"#/$defs/a%20b"}},"$defs":{"a b":` + mark + `}}`, `{"p":"s","q":1}`, "/p"},
		"a reference by name":           {`{"properties":{"p":{"$ref":"#a"}},"$defs":{"a":{"$anchor":"a","writeOnly":true}}}`, `{"p":"s","q":1}`, "/p"},
		"a dynamic reference":           {`{"properties":{"p":{"$dynamicRef":"#/$defs/a"}},"$defs":{"a":` + mark + `}}`, `{"p":"s","q":1}`, "/p"},
	} {
		t.Run(name, func(t *testing.T) {
			got := new(Schemas).WriteOnly(json.RawMessage(c.schema), json.RawMessage(c.value))
			if !slices.Equal(got, []string{c.want}) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
