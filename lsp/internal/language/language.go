package language

import (
	_ "embed"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl-lang/lang"
	"github.com/hashicorp/hcl-lang/schema"
	"github.com/zclconf/go-cty/cty"

	"deployster/config"
)

// names describes what each block and attribute is for.
//
//go:embed names.txt
var names string

// about is what is known of a block or an attribute.
type about struct{ kind, text string }

// described returns the descriptions of names.txt, by the names of blocks and attributes.
func described() map[string]about {
	all := map[string]about{}
	for line := range strings.Lines(names) {
		name, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		kind, text, more := strings.Cut(rest, " ")
		if ok && more && name != "#" {
			all[name] = about{kind, text}
		}
	}
	return all
}

// Language is what hcl-lang needs to know of the language. It is never changed.
type Language struct {
	Manifest  *schema.BodySchema
	Functions map[string]schema.FunctionSignature
	Roots     []config.ReferenceRoot
}

// New returns the language.
func New() *Language {
	texts := described()
	return &Language{Manifest: body("", config.Language(), texts), Functions: functions(), Roots: config.ReferenceRoots()}
}

// body returns the schema of a block whose full name is given.
func body(name string, s config.Syntax, texts map[string]about) *schema.BodySchema {
	out := &schema.BodySchema{Blocks: map[string]*schema.BlockSchema{}, Attributes: map[string]*schema.AttributeSchema{},
		Description: lang.Markdown(texts[name].text)}
	prefix := name
	if prefix != "" {
		prefix += "."
	}
	for _, a := range s.Attributes {
		what := texts[prefix+a.Name]
		out.Attributes[a.Name] = &schema.AttributeSchema{IsRequired: a.Required, IsOptional: !a.Required,
			Description: lang.Markdown(what.text), Constraint: constraint(what.kind)}
	}
	for _, b := range s.Blocks {
		inner := &schema.BlockSchema{Body: body(prefix+b.Block, b, texts), Description: lang.Markdown(texts[prefix+b.Block].text)}
		if b.Named {
			inner.Labels = []*schema.LabelSchema{{Name: "name", Description: lang.Markdown("The name of the " + b.Block + ".")}}
		}
		out.Blocks[b.Block] = inner
	}
	if s.Open && len(s.Attributes) == 0 {
		out.Attributes = nil
		out.AnyAttribute = &schema.AttributeSchema{IsOptional: true, Constraint: Anything}
	}
	return out
}

// Anything is any value.
var Anything = schema.AnyExpression{OfType: cty.DynamicPseudoType}

// constraint returns which values an attribute of a kind takes.
func constraint(kind string) schema.Constraint {
	switch kind {
	case "bool":
		return schema.AnyExpression{OfType: cty.Bool}
	case "number":
		return schema.AnyExpression{OfType: cty.Number}
	case "string":
		return schema.AnyExpression{OfType: cty.String}
	case "list":
		return schema.AnyExpression{OfType: cty.List(cty.DynamicPseudoType)}
	case "map":
		return schema.AnyExpression{OfType: cty.Map(cty.DynamicPseudoType)}
	case "declaration":
		return schema.TypeDeclaration{}
	}
	if !strings.Contains(kind, "|") {
		return Anything
	}
	var words schema.OneOf
	for word := range strings.SplitSeq(kind, "|") {
		words = append(words, schema.LiteralValue{Value: cty.StringVal(word)})
	}
	return append(words, schema.AnyExpression{OfType: cty.String})
}

// functions returns the functions of expressions.
func functions() map[string]schema.FunctionSignature {
	all := map[string]schema.FunctionSignature{}
	for name, f := range config.Functions() {
		s := schema.FunctionSignature{Description: f.Description(), ReturnType: cty.DynamicPseudoType, Params: f.Params(),
			VarParam: f.VarParam()}
		args := make([]cty.Type, len(s.Params))
		for i, p := range s.Params {
			args[i] = p.Type
		}
		if t, err := f.ReturnType(args); err == nil {
			s.ReturnType = t
		}
		all[name] = s
	}
	return all
}

// With returns the schema of a manifest where one kind of block takes other attributes too. Neither it nor what
// it shares with the language may be changed.
func (l *Language) With(block string, attributes map[string]*schema.AttributeSchema) *schema.BodySchema {
	known := l.Manifest.Blocks[block]
	if known == nil || len(attributes) == 0 {
		return l.Manifest
	}
	out, changed, inner := *l.Manifest, *known, *known.Body
	inner.Attributes = maps.Clone(inner.Attributes)
	maps.Copy(inner.Attributes, attributes)
	changed.Body = &inner
	out.Blocks = maps.Clone(out.Blocks)
	out.Blocks[block] = &changed
	return &out
}

// Describe returns a text about a value, in markdown: what it is, and what it is for.
func Describe(what, text string) string {
	if text == "" {
		return "`" + what + "`"
	}
	return fmt.Sprintf("`%s`\n\n%s", what, text)
}
