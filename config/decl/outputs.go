package decl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/funcs"
	"deployster/config/schema"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/words"
)

// Kept is the type that the value of an output must have; nil = any.
type Kept struct {
	Type     cty.Type
	defaults *typeexpr.Defaults
}

// output decodes an output block.
func (l *loader) output(b *hcl.Block) {
	o, _ := l.attributes(b, schema.Output, l.b.Outputs)
	l.deprecated(o)
	if a := o.Attrs["type"]; a != nil {
		if typ, defaults, ok := l.readType(a); ok {
			o.Kept = &Kept{typ, defaults}
		}
	}
}

// readType reads the attribute type of a variable or an output.
func (l *loader) readType(a *hcl.Attribute) (cty.Type, *typeexpr.Defaults, bool) {
	typ, defaults, diags := funcs.ReadType(a.Expr)
	for _, d := range diags {
		if d.Summary != "Invalid type specification" {
			continue // the error is in a default inside the type
		}
		d.Detail += words.DidYouMean(hcl.ExprAsKeyword(a.Expr), []string{"string", "number", "bool", "any"}) +
			" The types are string, number, bool, any, list(T), set(T), map(T), object({ NAME = T }) and tuple([T])."
	}
	l.add(diags...)
	return typ, defaults, !diags.HasErrors()
}

// Convert converts the value of an output to its type.
func (b *Block) Convert(v cty.Value, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	if b.Kept == nil {
		return v, nil
	}
	got, err := funcs.As(v, b.Kept.Type, b.Kept.defaults)
	if err == nil {
		return got, nil
	}
	plain, _ := v.UnmarkDeep()
	return cty.UnknownVal(b.Kept.Type), hcl.Diagnostics{source.Failure(at, "Invalid value of an output", "The value of the output %q must "+
		"be %s. Its type is at %s:%d.", b.Name, values.Mismatch(b.Kept.Type, plain, err), b.Attrs["type"].Range.Filename,
		b.Attrs["type"].Range.Start.Line)}
}
