package resource

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
)

// A provider that answers with a write-only value has a fault, and the value is dropped.
func TestWithoutWriteOnly_DropsWriteOnlyValues(t *testing.T) {
	t.Parallel()
	text := func(wo bool) *schema.Attribute {
		return &schema.Attribute{Type: cty.String, Optional: true, WriteOnly: wo}
	}
	inner := &schema.Block{Attributes: map[string]*schema.Attribute{"key": text(false), "word": text(true)}}
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"name": text(false), "word": text(true)}, Blocks: map[string]*schema.Nested{}}
	item := func(word cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal("k"), "word": word})
	}
	wrap := map[string]func(cty.Value) cty.Value{
		"single": func(v cty.Value) cty.Value { return v },
		"list":   func(v cty.Value) cty.Value { return cty.ListVal([]cty.Value{v}) },
		"set":    func(v cty.Value) cty.Value { return cty.SetVal([]cty.Value{v}) },
		"map":    func(v cty.Value) cty.Value { return cty.MapVal(map[string]cty.Value{"m": v}) },
	}
	for name, mode := range map[string]schema.Mode{"single": schema.Single, "list": schema.List, "set": schema.Set, "map": schema.Map} {
		b.Blocks[name] = &schema.Nested{Block: inner, Mode: mode}
	}
	state := func(word cty.Value) cty.Value {
		out := map[string]cty.Value{"name": cty.StringVal("n"), "word": word}
		for name, w := range wrap {
			out[name] = w(item(word))
		}
		return cty.ObjectVal(out)
	}
	if got, want := withoutWriteOnly(b, state(cty.StringVal("secret"))), state(cty.NullVal(cty.String)); !got.RawEquals(want) {
		t.Errorf("%#v", got)
	}
	nothing := cty.NullVal(b.Type())
	if got := withoutWriteOnly(b, nothing); !got.RawEquals(nothing) {
		t.Errorf("%#v", got)
	}
}
