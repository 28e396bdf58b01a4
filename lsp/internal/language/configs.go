package language

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl-lang/lang"
	"github.com/hashicorp/hcl-lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// maxNesting is how deep a schema is read: a schema may contain itself.
const maxNesting = 8

// node is the part of a JSON Schema that editors can use.
type node struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Properties  map[string]*node  `json:"properties"`
	Required    []string          `json:"required"`
	Items       json.RawMessage   `json:"items"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Default     json.RawMessage   `json:"default"`
	Examples    []json.RawMessage `json:"examples"`
	Deprecated  bool              `json:"deprecated"`
	WriteOnly   bool              `json:"writeOnly"`
	AllOf       []*node           `json:"allOf"`
	AnyOf       []*node           `json:"anyOf"`
	OneOf       []*node           `json:"oneOf"`
	Defs        map[string]*node  `json:"$defs"`
	Definitions map[string]*node  `json:"definitions"`
}

// Config returns which values the schema of a type allows for a config; false = the schema does not describe it.
func Config(jsonSchema []byte) (schema.Constraint, bool) {
	r, root, ok := read(jsonSchema)
	if !ok {
		return nil, false
	}
	return r.constraint(root, 0), true
}

// Property is a property of an object in a schema.
type Property struct {
	Name       string
	Text       string // in markdown
	Properties []Property
}

// Properties returns the properties of the objects that a schema describes, sorted by name.
func Properties(jsonSchema []byte) []Property {
	r, root, ok := read(jsonSchema)
	if !ok {
		return nil
	}
	return r.listed(root, 0)
}

// reader resolves references inside a schema: it has the parts of the schema, by the references to them.
type reader map[string]*node

func read(jsonSchema []byte) (reader, *node, bool) {
	var root node
	if len(jsonSchema) == 0 || json.Unmarshal(jsonSchema, &root) != nil {
		return nil, nil, false
	}
	r := reader{}
	for name, part := range root.Defs {
		r["#/$defs/"+name] = part
	}
	for name, part := range root.Definitions {
		r["#/definitions/"+name] = part
	}
	all := r.whole(&root, 0)
	return r, all, len(all.Properties) > 0 || len(all.Additional) > 0
}

// whole returns a schema with what those that it refers to and those that it is made of add.
func (r reader) whole(n *node, depth int) *node {
	if n == nil || depth > maxNesting {
		return &node{}
	}
	out := *n
	var parts []*node
	if part, known := r[n.Ref]; known {
		parts = append(parts, part)
	}
	always := len(parts) + len(n.AllOf)
	parts = slices.Concat(parts, n.AllOf, n.AnyOf, n.OneOf)
	out.Properties = maps.Clone(n.Properties)
	for i, p := range parts {
		part := r.whole(p, depth+1)
		if out.Properties == nil && part.Properties != nil {
			out.Properties = map[string]*node{}
		}
		for name, property := range part.Properties {
			if out.Properties[name] == nil {
				out.Properties[name] = property
			}
		}
		if out.Type == nil {
			out.Type = part.Type
		}
		if out.Items == nil {
			out.Items = part.Items
		}
		if out.Additional == nil {
			out.Additional = part.Additional
		}
		if i < always {
			out.takes(part)
		}
	}
	return &out
}

// takes adds the rules of a schema that hold too.
func (n *node) takes(other *node) {
	n.Required = append(slices.Clip(n.Required), other.Required...)
	n.Description = cmp.Or(n.Description, other.Description)
	n.Title = cmp.Or(n.Title, other.Title)
	n.Deprecated = n.Deprecated || other.Deprecated
	n.WriteOnly = n.WriteOnly || other.WriteOnly
	if n.Enum == nil {
		n.Enum = other.Enum
	}
	if n.Default == nil {
		n.Default = other.Default
	}
	if n.Examples == nil {
		n.Examples = other.Examples
	}
}

// kinds returns the types that values may have.
func (n *node) kinds() []string {
	switch t := n.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, one := range t {
			if s, ok := one.(string); ok && s != "null" {
				list = append(list, s)
			}
		}
		return list
	}
	if len(n.Properties) > 0 {
		return []string{"object"}
	}
	return nil
}

// constraint returns which values a schema allows.
func (r reader) constraint(n *node, depth int) schema.Constraint {
	if depth > maxNesting {
		return Anything
	}
	var out schema.OneOf
	for _, v := range n.values() {
		out = append(out, schema.LiteralValue{Value: v})
	}
	of, kinds := cty.DynamicPseudoType, n.kinds()
	if len(kinds) == 1 {
		switch kinds[0] {
		case "string":
			of = cty.String
		case "boolean":
			of = cty.Bool
		case "integer", "number":
			of = cty.Number
		}
	}
	if slices.Contains(kinds, "object") && len(n.Properties) > 0 {
		out = append(out, schema.Object{Attributes: r.attributes(n, depth), AllowInterpolatedKeys: true,
			Description: lang.Markdown(n.Description)})
	}
	var inner node
	if slices.Contains(kinds, "array") && json.Unmarshal(n.Items, &inner) == nil {
		out = append(out, schema.List{Elem: r.constraint(r.whole(&inner, depth), depth+1), Description: lang.Markdown(n.Description)})
	}
	if slices.Contains(kinds, "object") && len(n.Properties) == 0 && json.Unmarshal(n.Additional, &inner) == nil {
		out = append(out, schema.Map{Elem: r.constraint(r.whole(&inner, depth), depth+1), AllowInterpolatedKeys: true})
	}
	plain := schema.AnyExpression{OfType: of, SkipLiteralComplexTypes: len(out) > 0}
	if len(out) == 0 {
		return plain
	}
	return append(out, plain)
}

// values returns the only values that a schema allows, as far as they are simple.
func (n *node) values() (list []cty.Value) {
	all := n.Enum
	if n.Const != nil {
		all = append(slices.Clip(all), n.Const)
	}
	for _, v := range all {
		switch v := v.(type) {
		case string:
			list = append(list, cty.StringVal(v))
		case float64:
			list = append(list, cty.NumberFloatVal(v))
		case bool:
			list = append(list, cty.BoolVal(v))
		}
	}
	return list
}

func (r reader) attributes(n *node, depth int) schema.ObjectAttributes {
	all := schema.ObjectAttributes{}
	for name, p := range n.Properties {
		if p == nil {
			continue
		}
		whole := r.whole(p, depth+1)
		required := slices.Contains(n.Required, name)
		all[name] = &schema.AttributeSchema{IsRequired: required, IsOptional: !required, IsDeprecated: whole.Deprecated,
			IsSensitive: whole.WriteOnly, Description: lang.Markdown(whole.text()), Constraint: r.constraint(whole, depth+1)}
	}
	return all
}

// text returns the description of a property in a schema.
func (n *node) text() string {
	text := n.Description
	if text == "" {
		text = n.Title
	}
	add := func(line string) {
		if text != "" {
			text += "\n\n"
		}
		text += line
	}
	if len(n.Default) > 0 {
		add(fmt.Sprintf("Default: `%s`", n.Default))
	}
	if len(n.Enum) > 0 {
		words := make([]string, len(n.Enum))
		for i, v := range n.Enum {
			words[i] = fmt.Sprintf("`%v`", v)
		}
		add("One of " + strings.Join(words, ", "))
	}
	if len(n.Examples) > 0 {
		add(fmt.Sprintf("Example: `%s`", n.Examples[0]))
	}
	return text
}

func (r reader) listed(n *node, depth int) (list []Property) {
	if depth > maxNesting {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		if n.Properties[name] == nil {
			continue
		}
		p := r.whole(n.Properties[name], depth+1)
		list = append(list, Property{Name: name, Text: p.text(), Properties: r.listed(p, depth+1)})
	}
	return list
}
