package typeschema

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestWriteOnly(t *testing.T) {
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
