package refs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/funcs"
)

// ImpureCalls returns the functions with a different result each time that an
// expression calls, sorted, each once.
func (x *Index) ImpureCalls(expr hcl.Expression) []string { return x.Facts(expr).Impure }

// impureText returns the same for an expression in JSON syntax, whose templates are
// text. It also counts text that only mentions a call: such text cannot be used where
// values must be known early.
func (x *Index) impureText(expr hcl.Expression) []string {
	r := expr.Range()
	src, ok := x.source(r.Filename)
	if !ok || !r.CanSliceBytes(src) {
		return nil
	}
	return slices.DeleteFunc(funcs.ImpureNames(), func(name string) bool {
		return !bytes.Contains(r.SliceBytes(src), []byte(name+"("))
	})
}

// AsReference returns the reference of an expression that consists of it, perhaps
// with a computed key: resource.disk[each.key].
func (x *Index) AsReference(expr hcl.Expression) (Reference, bool) {
	native, ok := x.Unwrap(expr, true).(hclsyntax.Expression)
	if !ok {
		return Reference{}, false
	}
	switch n := native.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return Reference{Traversal: n.Traversal}, true
	case *hclsyntax.IndexExpr:
		if s, ok := n.Collection.(*hclsyntax.ScopeTraversalExpr); ok && MayRepeat(s.Traversal) {
			return Reference{Traversal: s.Traversal, Key: n.Key}, true
		}
	case *hclsyntax.RelativeTraversalExpr:
		if r, ok := x.AsReference(n.Source); ok && r.Key != nil {
			r.Rest = n.Traversal
			return r, true
		}
	}
	return Reference{}, false
}

// Unwrap returns an expression without its wrapping: parentheses, "${...}", and in
// JSON syntax the string around it. With bare, a JSON string without "${...}" counts
// as an expression too.
func (x *Index) Unwrap(expr hcl.Expression, bare bool) hcl.Expression {
	expr = Unparen(expr)
	if w, ok := expr.(*hclsyntax.TemplateWrapExpr); ok {
		return Unparen(w.Wrapped)
	}
	if !IsJSON(expr) {
		return expr
	}
	text, ok := x.jsonString(expr)
	if !ok {
		return expr
	}
	start := expr.Range().Start
	start.Byte, start.Column = start.Byte+1, start.Column+1
	inner, found := unwrapped(text)
	if found {
		start.Byte, start.Column = start.Byte+2, start.Column+2
	} else if !bare {
		return expr
	}
	parsed, diags := hclsyntax.ParseExpression([]byte(inner), expr.Range().Filename, start)
	if diags.HasErrors() {
		return expr
	}
	return Unparen(parsed)
}

// AsTraversal returns the traversal of an expression that is only a reference with
// constant keys, nil otherwise.
func (x *Index) AsTraversal(expr hcl.Expression) hcl.Traversal {
	expr = x.Unwrap(expr, false)
	t, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() || IsJSON(expr) {
		return nil
	}
	return t
}

// AsAddress returns the traversal of an expression that is only an address, in JSON
// syntax also without "${...}"; nil otherwise.
func (x *Index) AsAddress(expr hcl.Expression) hcl.Traversal {
	t, diags := hcl.AbsTraversalForExpr(x.Unwrap(expr, true))
	if diags.HasErrors() {
		return nil
	}
	return t
}

// IsJSON reports whether an expression is in JSON syntax.
func IsJSON(expr hcl.Expression) bool { return hcljson.IsJSONExpression(expr) }

// jsonString returns the text of a string in JSON syntax.
func (x *Index) jsonString(expr hcl.Expression) (string, bool) {
	r := expr.Range()
	src, ok := x.source(r.Filename)
	if !ok || !r.CanSliceBytes(src) {
		return "", false
	}
	var text string
	if json.Unmarshal(r.SliceBytes(src), &text) != nil {
		return "", false
	}
	return text, true
}

// ConstantText returns the text of an expression that must be a text constant.
func ConstantText(expr hcl.Expression) (string, bool) {
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return "", false
	}
	return v.AsString(), true
}

// unwrapped returns the inside of a JSON string that is one interpolation.
func unwrapped(text string) (string, bool) {
	inner, found := strings.CutPrefix(text, "${")
	return strings.TrimSuffix(inner, "}"), found && strings.HasSuffix(inner, "}")
}
