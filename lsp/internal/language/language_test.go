package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl-lang/schema"

	"deployster/config"
)

// Each block and attribute of the language has a line in names.txt and is in the schema, and the reverse.
func TestNames_AreThoseOfTheLanguage(t *testing.T) {
	t.Parallel()
	texts, language := described(), New()
	kinds := []string{"bool", "number", "string", "list", "map", "any", "declaration", "config"}
	var look func(prefix string, s config.Syntax, got *schema.BodySchema)
	seen := 0
	look = func(prefix string, s config.Syntax, got *schema.BodySchema) {
		if len(got.Attributes) != len(s.Attributes) || len(got.Blocks) != len(s.Blocks) {
			t.Errorf("%s: the schema has %d attributes and %d blocks, the language %d and %d", prefix, len(got.Attributes), len(got.Blocks),
				len(s.Attributes), len(s.Blocks))
		}
		for _, a := range s.Attributes {
			is := texts[prefix+a.Name]
			if is.text == "" || !slices.Contains(kinds, is.kind) && !strings.Contains(is.kind, "|") {
				t.Errorf("names.txt does not describe the attribute %s: %+v", prefix+a.Name, is)
			}
			if in := got.Attributes[a.Name]; in == nil || in.IsRequired != a.Required || in.Description.Value != is.text {
				t.Errorf("the schema has %+v for %s", in, prefix+a.Name)
			}
			delete(texts, prefix+a.Name)
			seen++
		}
		for _, b := range s.Blocks {
			is := texts[prefix+b.Block]
			if is.text == "" || is.kind != "block" {
				t.Errorf("names.txt does not describe the block %s: %+v", prefix+b.Block, is)
			}
			in := got.Blocks[b.Block]
			if in == nil || (len(in.Labels) == 1) != b.Named || in.Description.Value != is.text {
				t.Fatalf("the schema has %+v for %s", in, prefix+b.Block)
			}
			delete(texts, prefix+b.Block)
			seen++
			look(prefix+b.Block+".", b, in.Body)
		}
	}
	look("", config.Language(), language.Manifest)
	for name := range texts {
		t.Errorf("names.txt describes %s, which is not in the language", name)
	}
	if err := language.Manifest.Validate(); err != nil {
		t.Error(err)
	}
	if seen < 150 {
		t.Errorf("only %d names were seen", seen)
	}
}

func TestFunctions_AreThoseOfTheLanguage(t *testing.T) {
	t.Parallel()
	language := New()
	for name, f := range config.Functions() {
		got, ok := language.Functions[name]
		if !ok || len(got.Params) != len(f.Params()) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if len(language.Functions) < 100 {
		t.Errorf("only %d functions", len(language.Functions))
	}
}

// With changes neither the language nor what another call gave.
func TestWith_ChangesNothing(t *testing.T) {
	t.Parallel()
	language := New()
	before := len(language.Manifest.Blocks["module"].Body.Attributes)
	with := language.With("module", map[string]*schema.AttributeSchema{"size": {IsOptional: true, Constraint: Anything}})
	if with.Blocks["module"].Body.Attributes["size"] == nil || len(language.Manifest.Blocks["module"].Body.Attributes) != before {
		t.Error("size is where it should not be, or not where it should")
	}
}

const example = `{"type": "object", "required": ["path"], "additionalProperties": false, "$defs": {
  "mode": {"type": "string", "description": "Who may do what", "examples": ["0644"]}, "loop": {"properties": {"again": {"$ref": "#/$defs/loop"}}}},
  "properties": {"path": {"type": "string", "description": "Where it is"}, "mode": {"$ref": "#/$defs/mode"},
  "state": {"enum": ["on", "off"], "default": "on"}, "loop": {"$ref": "#/$defs/loop"},
  "rules": {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}}},
  "oneOf": [{"properties": {"text": {"type": ["string", "null"]}}}, {"properties": {"source": {"type": "string"}}}]}`

func TestConfig_IsReadOfASchema(t *testing.T) {
	t.Parallel()
	c, ok := Config([]byte(example))
	if !ok {
		t.Fatal("nothing was read")
	}
	object := c.(schema.OneOf)[0].(schema.Object)
	if got := slices.Sorted(func(yield func(string) bool) {
		for name := range object.Attributes {
			yield(name)
		}
	}); !slices.Equal(got, []string{"loop", "mode", "path", "rules", "source", "state", "text"}) {
		t.Error(got)
	}
	if p := object.Attributes["path"]; !p.IsRequired || p.Description.Value != "Where it is" || p.Constraint.FriendlyName() != "string" {
		t.Errorf("%+v", p)
	}
	if m := object.Attributes["mode"]; m.IsRequired || !strings.Contains(m.Description.Value, "Who may do what") ||
		!strings.Contains(m.Description.Value, `"0644"`) {
		t.Errorf("%+v", m)
	}
	if s := object.Attributes["state"]; !strings.Contains(s.Description.Value, "`on`, `off`") || len(s.Constraint.(schema.OneOf)) != 3 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", "{", "[]", "{}", "null", `{"properties": null}`, `{"properties": 3}`} {
		if c, ok := Config([]byte(bad)); ok {
			t.Errorf("%s: %v", bad, c)
		}
	}
	if list := Properties([]byte(example)); len(list) != 7 || list[3].Name != "rules" {
		t.Errorf("%+v", list)
	}
}
