package values

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
)

func TestStateTypes_FollowTheSchema(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		``:                           "any, any",
		`{"type":"string"}`:          "string, string",
		`{"type":["string","null"]}`: "any, any",
		`{"type":"object"}`:          "any, any open",
		`{"type":"object","required":["a"],"properties":{"a":{"type":"number"}}}`:                                                        `object({a=number}), object({a=number})`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`:                                           `any, object({a=number})`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":true}`:                                            "any, any open",
		`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}`:                               "any, any open",
		`{"type":"object","properties":{"a":{"type":"integer"}},"patternProperties":{"b":{}}}`:                                           "any, any open",
		`{"type":"object","properties":{"a":{"type":"integer"}},"oneOf":[{"required":["a"]}]}`:                                           "any, any open",
		`{"type":"array","items":{"type":"object","properties":{"a":{"type":"boolean"}}}}`:                                               `list(object({a=bool})), list(object({a=bool}))`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"array","items":{"type":["string","null"]}},"b":{"anyOf":[]}}}`: `object({a=any,b=any}), object({a=any,b=any})`,
		`{"type":"array"}`: "any, any",
		`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}}`:                           "any, any",
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`:              `any, object({a=string})`,
		`{"type":"object","properties":{"a":{"$ref":"http://x/"},"b":{"$ref":"#/none"},"c":{"$ref":"#anchor"}}}`: `any, object({a=any,b=any,c=any})`,
		`{"$ref":"#"}`:                  "any, any",
		`{"type":"string","const":"x"}`: `string, string`,
		`{"enum":["a"]}`:                "any, any",
		`true`:                          "any, any",
		`{`:                             "any, any",
	} {
		typ := typeOfState([]byte(schema))
		got := typeexpr.TypeString(typ.typ) + ", " + typeexpr.TypeString(typ.loose)
		if typ.open {
			got += " open"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
	}
}

// A schema that refers to itself for ever, or is wide without end, ends.
func TestEndlessSchemas_HaveABoundedType(t *testing.T) {
	t.Parallel()
	loop := `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`
	if typ := typeOfState([]byte(loop)); len(typ.Attrs) != 3 {
		t.Errorf("%v", typ)
	}
	list := strings.Repeat(`{"type":"array","items":`, 90) + `{"type":"string"}` + strings.Repeat("}", 90)
	if typ := typeOfState([]byte(list)); typ.typ.GoString() != "cty.DynamicPseudoType" {
		t.Errorf("%#v", typ.typ)
	}
}
