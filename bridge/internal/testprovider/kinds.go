package testprovider

import (
	"fmt"

	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// Kind is a resource type of the provider; the one named Data is also a data source.
type Kind struct {
	Name     string
	Schema   *tfplugin6.Schema
	Variants []Variant
	Six      bool // protocol 5 cannot express it
}

// Variant is one way to write the attribute or block "thing" of a kind.
type Variant struct {
	Name    string
	Absent  bool
	Written any
	// ForBridge is the config for the bridge, if it accepts a form that Terraform does not.
	ForBridge any
}

// Data is the kind that is also a data source.
const Data = "test_text_both"

// flag is a set of flags of an attribute.
type flag struct{ required, optional, computed, sensitive, writeOnly bool }

// flags are the flags that are combined with the shapes.
var flags = map[string]flag{
	"required":  {required: true},
	"optional":  {optional: true},
	"computed":  {computed: true},
	"both":      {optional: true, computed: true},
	"sensitive": {optional: true, sensitive: true},
	"secret":    {optional: true, computed: true, sensitive: true},
	"writeonly": {optional: true, writeOnly: true},
}

// flagNames are the names of the flags, in the order in which the kinds are listed.
var flagNames = []string{"required", "optional", "computed", "both", "sensitive", "secret", "writeonly"}

// plain are the types without blocks, with configs for them.
var plain = []struct {
	name, typ string
	variants  []Variant
}{
	{"text", `"string"`, written("", "x", "y")},
	{"number", `"number"`, written(0, 7, 1.5)},
	{"bool", `"bool"`, written(true, false)},
	{"list", `["list","string"]`, written(list(), list("a"), list("b", "a"))},
	{"set", `["set","string"]`, written(list(), list("a"), list("b", "a"))},
	{"map", `["map","string"]`, written(object{}, object{"k": "a"}, object{"k": "b", "l": "c"})},
	{"object", `["object",{"a":"string","b":["list","number"]}]`, written(object{"a": "x", "b": list(1)}, object{"a": nil, "b": nil})},
	{"tuple", `["tuple",["string","bool"]]`, written(list("a", true), list("b", false))},
	{"objects", `["list",["object",{"a":"string"}]]`, written(list(), list(object{"a": "x"}), list(object{"a": "y"}, object{"a": "x"}))},
	{"sets", `["map",["set","number"]]`, written(object{}, object{"k": list(2, 1)}, object{"k": list(), "l": list(3)})},
	{"dynamic", `"dynamic"`, written("x", 7, list("a", 1), object{"k": "a"})},
}

type object = map[string]any

func list(items ...any) []any { return append([]any{}, items...) }

func written(values ...any) []Variant {
	out := []Variant{{Name: "absent", Absent: true}, {Name: "null"}}
	for i, v := range values {
		out = append(out, Variant{Name: fmt.Sprintf("value%d", i), Written: v})
	}
	return out
}

// modes are the nesting modes of blocks and nested attributes.
var modes = []struct {
	name          string
	block, nested int32
}{{"single", 1, 1}, {"list", 2, 2}, {"set", 3, 3}, {"map", 4, 4}, {"group", 5, 0}}

// Kinds returns all kinds.
func Kinds() (out []Kind) {
	for _, p := range plain {
		for _, flag := range flagNames {
			a := flagged("thing", flag)
			a.Type = []byte(p.typ)
			out = append(out, Kind{Name: "test_" + p.name + "_" + flag, Schema: schemaWith(a, nil), Variants: allowed(flag, p.variants)})
		}
	}
	for _, m := range modes {
		for _, flag := range flagNames {
			if flag == "writeonly" && m.name == "set" {
				continue // Terraform forbids it: elements of a set are identified by their values
			}
			out = append(out, blockKind(m.name, m.block, flag))
		}
		if m.nested == 0 {
			continue
		}
		for _, flag := range flagNames {
			for _, inner := range flagNames {
				if k, possible := nestedKind(m.name, m.nested, flag, inner); possible {
					out = append(out, k)
				}
			}
		}
	}
	return append(out, deepKinds()...)
}

func flagged(name, flag string) *tfplugin6.Schema_Attribute {
	f := flags[flag]
	return &tfplugin6.Schema_Attribute{Name: name, Type: []byte(`"string"`), Required: f.required, Optional: f.optional,
		Computed:  f.computed,
		Sensitive: f.sensitive, WriteOnly: f.writeOnly}
}

// allowed returns the variants that an attribute with a flag accepts.
func allowed(flag string, all []Variant) (out []Variant) {
	for _, v := range all {
		nothing := v.Absent || v.Written == nil
		if flag == "required" && nothing || flag == "computed" && !nothing {
			continue
		}
		out = append(out, v)
	}
	return out
}

// schemaWith returns a schema with the attributes of every kind: a label that identifies its
// resources, an anchor that cannot be changed in place, and a revision that the provider counts.
func schemaWith(a *tfplugin6.Schema_Attribute, n *tfplugin6.Schema_NestedBlock) *tfplugin6.Schema {
	b := &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{flagged("label", "required"), flagged("anchor", "optional"),
		flagged("revision", "computed")}}
	if a != nil {
		b.Attributes = append(b.Attributes, a)
	}
	if n != nil {
		b.BlockTypes = append(b.BlockTypes, n)
	}
	return &tfplugin6.Schema{Block: b}
}

// members returns the attributes of a nested block: a key, a value with a flag, and one
// that the provider chooses.
func members(flag string) []*tfplugin6.Schema_Attribute {
	return []*tfplugin6.Schema_Attribute{flagged("key", "optional"), flagged("value", flag), flagged("chosen", "computed")}
}

func blockKind(mode string, nesting int32, flag string) Kind {
	n := &tfplugin6.Schema_NestedBlock{TypeName: "thing", Nesting: tfplugin6.Schema_NestedBlock_NestingMode(nesting),
		Block: &tfplugin6.Schema_Block{Attributes: members(flag)}}
	return Kind{Name: "test_block_" + mode + "_" + flag, Schema: schemaWith(nil, n), Variants: nestedVariants(mode, flag, true)}
}

// nestedKind returns a kind with a nested attribute; false = these flags cannot be combined.
func nestedKind(mode string, nesting int32, flag, inner string) (Kind, bool) {
	if flag == "computed" && inner != "computed" || (flag == "writeonly") != (inner == "writeonly") && flag != "optional" ||
		inner == "writeonly" && mode == "set" {
		return Kind{}, false
	}
	a := flagged("thing", flag)
	a.Type = nil
	a.NestedType = &tfplugin6.Schema_Object{Nesting: tfplugin6.Schema_Object_NestingMode(nesting), Attributes: members(inner)}
	if flag == "writeonly" {
		for _, m := range a.NestedType.Attributes {
			m.Optional, m.Computed, m.WriteOnly = true, false, true
		}
	}
	if flag == "computed" {
		for _, m := range a.NestedType.Attributes {
			m.Optional, m.Computed = false, true
		}
	}
	return Kind{Name: "test_nested_" + mode + "_" + flag + "_" + inner, Schema: schemaWith(a, nil), Six: true,
		Variants: allowed(flag, nestedVariants(mode, inner, false))}, true
}

// nestedVariants returns the ways to write nested blocks: none, one, two, one as an
// object, one without an optional value, and two of which one existed before.
func nestedVariants(mode, flag string, block bool) []Variant {
	item := func(key, value string) object {
		o := object{"key": key}
		if flag != "computed" && (value != "" || flag == "required") {
			o["value"] = value
		}
		return o
	}
	a, b, bare, other := item("a", "x"), item("b", "y"), item("a", ""), item("a", "z")
	switch mode {
	case "single", "group":
		v := written(a, b, bare, other)
		if mode == "group" || block { // a block cannot be null, only absent
			v = v[2:]
			v = append(v, Variant{Name: "absent", Absent: true})
		}
		if flag == "required" && mode == "group" {
			v = v[:len(v)-1]
		}
		return v
	case "map":
		v := written(object{}, object{"k": a}, object{"k": bare, "l": b}, object{"l": b, "k": other})
		if block {
			return append(v[3:], Variant{Name: "absent", Absent: true})
		}
		return v
	}
	v := written(list(), list(a), list(b, a), list(bare), list(other, b), list(bare, b, item("c", "")))
	if block {
		v = append(v[2:], Variant{Name: "absent", Absent: true})
	}
	return append(v, Variant{Name: "object", Written: list(a), ForBridge: a})
}

// deepKinds returns kinds with blocks in blocks, for every combination of modes.
func deepKinds() (out []Kind) {
	for _, outer := range modes {
		for _, inner := range modes {
			within := &tfplugin6.Schema_NestedBlock{TypeName: "within", Nesting: tfplugin6.Schema_NestedBlock_NestingMode(inner.block),
				Block: &tfplugin6.Schema_Block{Attributes: members("both")}}
			n := &tfplugin6.Schema_NestedBlock{TypeName: "thing", Nesting: tfplugin6.Schema_NestedBlock_NestingMode(outer.block),
				Block: &tfplugin6.Schema_Block{Attributes: members("both"), BlockTypes: []*tfplugin6.Schema_NestedBlock{within}}}
			var variants []Variant
			for _, v := range nestedVariants(outer.name, "both", true) {
				for i, w := range nestedVariants(inner.name, "both", true) {
					if i%2 == 0 {
						variants = append(variants, Variant{Name: v.Name + w.Name, Absent: v.Absent,
							Written: filled(outer.name, v.Written, w)})
					}
				}
			}
			out = append(out, Kind{Name: "test_deep_" + outer.name + "_" + inner.name, Schema: schemaWith(nil, n), Variants: variants})
		}
	}
	return out
}

// filled adds a block to each of the blocks that are written.
func filled(mode string, outer any, inner Variant) any {
	into := func(v any) any {
		out := object{}
		for key, m := range v.(object) {
			out[key] = m
		}
		if !inner.Absent {
			out["within"] = inner.Written
		}
		return out
	}
	switch o := outer.(type) {
	case []any:
		out := list()
		for _, item := range o {
			out = append(out, into(item))
		}
		return out
	case object:
		if mode != "map" {
			return into(o)
		}
		out := object{}
		for key, item := range o {
			out[key] = into(item)
		}
		return out
	}
	return outer
}
