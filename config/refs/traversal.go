package refs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// SelfTraversal converts self.state to resource.self.state, at the same places in the file.
func SelfTraversal(t hcl.Traversal) hcl.Traversal {
	at := t[0].SourceRange()
	return append(hcl.Traversal{hcl.TraverseRoot{Name: "resource", SrcRange: at}, hcl.TraverseAttr{Name: "self", SrcRange: at}}, t[1:]...)
}

// PointerSteps returns a traversal of the tokens of a JSON pointer.
func PointerSteps(keys []string) hcl.Traversal {
	var t hcl.Traversal
	for _, k := range keys {
		t = append(t, hcl.TraverseIndex{Key: cty.StringVal(k)})
	}
	return t
}

// MayRepeat reports whether a traversal is resource.NAME, module.NAME or host.NAME.
func MayRepeat(t hcl.Traversal) bool {
	return len(t) == 2 && (t.RootName() == "resource" || t.RootName() == "module" || t.RootName() == "host")
}

// StepName returns the name that step i of a traversal selects, "" if there is none.
func StepName(t hcl.Traversal, i int) string {
	if i >= len(t) {
		return ""
	}
	switch s := t[i].(type) {
	case hcl.TraverseAttr:
		return s.Name
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
			return s.Key.AsString()
		}
	}
	return ""
}

// TraversalString returns a traversal as in a manifest.
func TraversalString(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			switch {
			case s.Key.Type() == cty.Number:
				b.WriteString("[" + s.Key.AsBigFloat().Text('g', 20) + "]")
			case s.Key.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", s.Key.AsString())
			}
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}

// Unparen removes the parentheses around an expression, and similar wrappers.
func Unparen(expr hcl.Expression) hcl.Expression {
	for {
		switch p := expr.(type) {
		case *hclsyntax.ParenthesesExpr:
			expr = p.Expression
		case interface{ UnwrapExpression() hcl.Expression }: // the wrappers with which package limits counts
			expr = p.UnwrapExpression()
		default:
			return expr
		}
	}
}

// ObjectKey returns the name or key that a step selects, "" if there is none.
func ObjectKey(step hcl.Traverser) string {
	switch s := step.(type) {
	case hcl.TraverseAttr:
		return s.Name
	case hcl.TraverseIndex:
		if key, err := convert.Convert(s.Key, cty.String); err == nil && key.IsKnown() && !key.IsNull() {
			return key.AsString()
		}
	}
	return ""
}

// TupleIndex returns the index that a step selects, false if it selects by name.
func TupleIndex(step hcl.Traverser) (int, bool) {
	s, ok := step.(hcl.TraverseIndex)
	if !ok {
		return 0, false
	}
	key, err := convert.Convert(s.Key, cty.Number)
	if err != nil || !key.IsKnown() || key.IsNull() {
		return 0, false
	}
	i, _ := key.AsBigFloat().Int64()
	return int(i), i >= 0
}

// Behind returns a reference with more steps at its end.
func (r Reference) Behind(steps hcl.Traversal) Reference {
	if r.Key != nil {
		r.Rest = append(slices.Clone(r.Rest), steps...)
	} else {
		r.Traversal = append(slices.Clone(r.Traversal), steps...)
	}
	return r
}

// Descend follows steps into the object and list expressions of an expression, as far
// as they exist, and returns the remaining steps.
func Descend(expr hcl.Expression, steps hcl.Traversal) (hcl.Expression, hcl.Traversal) {
	for len(steps) > 0 {
		next := Child(expr, ObjectKey(steps[0]))
		if next == nil {
			break
		}
		expr, steps = next, steps[1:]
	}
	return expr, steps
}

// Child returns the part of an object or list expression at a key, nil if there is none.
func Child(expr hcl.Expression, key string) hcl.Expression {
	expr = Unparen(expr)
	if _, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		_, value := Pair(expr, key)
		return value
	}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(items) {
			return items[i]
		}
	}
	return nil
}

// Pair returns the expressions of a key and its value in an object expression, or nil.
func Pair(expr hcl.Expression, key string) (name, value hcl.Expression) {
	pairs, _ := hcl.ExprMap(Unparen(expr))
	for _, pair := range pairs {
		k, d := pair.Key.Value(nil)
		if name, err := convert.Convert(k, cty.String); !d.HasErrors() && err == nil && name.IsKnown() && !name.IsNull() &&
			name.AsString() == key {
			return pair.Key, pair.Value
		}
	}
	return nil, nil
}
