package typeschema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWithDefaults_AddsWhatIsNotSet(t *testing.T) {
	t.Parallel()
	const schema = `{"$defs":{"zone":{"type":"string","default":"eu"},"never":{"default":null}},
		"properties":{"port":{"type":"integer","default":80},"big":{"default":12345678901234567890},"none":{"$ref":"#/$defs/never"},
			"where":{"properties":{"zone":{"$ref":"#/$defs/zone"}}},
			"tls":{"default":{"on":true},"properties":{"on":{"default":false},"min":{"default":"1.2"}}},
			"sites":{"items":{"properties":{"path":{"default":"/"}}}}},
		"allOf":[{"properties":{"more":{"default":"<a>"}}}],
		"anyOf":[{"properties":{"any":{"default":1}}}],"oneOf":[{"properties":{"one":{"default":1}}}],
		"if":{"properties":{"if":{"default":1}}},"then":{"properties":{"then":{"default":1}}},"else":{"properties":{"else":{"default":1}}},
		"not":{"properties":{"not":{"default":1}}}}`
	const rest = `"tls":{"min":"1.2","on":true}`
	for config, want := range map[string]string{
		`{}`: `{"big":12345678901234567890,"more":"<a>","port":80,` + rest + `}`,
		`{"big":1,"more":null,"port":null,"where":null,"tls":null}`: `{"big":1,"more":null,"port":null,"where":null,"tls":null}`,
		`{"big":1,"more":"","port":8080,"where":{},"tls":{"min":"1"},"sites":[{},{"path":"/b"},3]}`: `{"big":1,"more":"","port":8080,` +
			`"sites":[{"path":"/"},{"path":"/b"},3],"tls":{"min":"1","on":false},"where":{"zone":"eu"}}`,
		`[]`: `[]`, `null`: `null`, `"text"`: `"text"`, `not json`: `not json`, ``: ``,
	} {
		got := new(Schemas).WithDefaults(json.RawMessage(schema), json.RawMessage(config))
		if string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", config, got, want)
		}
		if again := new(Schemas).WithDefaults(json.RawMessage(schema), got); string(again) != string(got) {
			t.Errorf("%s: a second time gives %s", config, again)
		}
	}
}

// A schema whose defaults have no end, or multiply, adds none: the document stays as it is.
func TestWithDefaults_EndsWithHostileSchemas(t *testing.T) {
	t.Parallel()
	levels := `"l0":{}`
	for i := range 40 {
		at, below := string(rune('a'+i%26))+strings.Repeat("x", i/26), "l0"
		if i > 0 {
			below = string(rune('a'+(i-1)%26)) + strings.Repeat("x", (i-1)/26)
		}
		member := `{"default":{},"allOf":[{"$ref":"#/$defs/` + below + `"}]}`
		levels += `,"` + at + `":{"properties":{"p":` + member + `,"q":` + member + `}}`
	}
	for name, schema := range map[string]string{
		"a circle":      `{"properties":{"a":{"default":{},"$ref":"#"}}}`,
		"it multiplies": `{"$defs":{` + levels + `},"$ref":"#/$defs/nx"}`,
	} {
		if got := new(Schemas).WithDefaults(json.RawMessage(schema), json.RawMessage(`{"b":1}`)); string(got) != `{"b":1}` {
			t.Errorf("%s: %.200s", name, got)
		}
	}
}
