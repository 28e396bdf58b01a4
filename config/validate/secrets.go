package validate

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/source"
	"deployster/config/values"
)

// whole are the functions that pass on the values of their arguments unchanged.
var whole = map[string]bool{"merge": true, "concat": true}

// computed returns an error for each use of a secret from which a value is computed: its value is not known while
// manifests are read, so that a function would compute from what stands for it.
func computed(expr hcl.Expression) hcl.Diagnostics {
	node, native := expr.(hclsyntax.Node)
	if !native {
		return nil // in JSON syntax, the value itself is checked
	}
	w := &secretWalk{}
	_ = hclsyntax.Walk(node, w) // its errors are in the walk
	return w.diags
}

// secretWalk visits an expression. inside is how many computations it is in.
type secretWalk struct {
	inside []bool
	diags  hcl.Diagnostics
}

// Enter implements hclsyntax.Walker.
func (w *secretWalk) Enter(node hclsyntax.Node) hcl.Diagnostics {
	within := len(w.inside) > 0 && w.inside[len(w.inside)-1]
	switch n := node.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if within && n.Traversal.RootName() == "secret" {
			w.diags = append(w.diags, source.Failure(n.Range(), "A secret cannot be used here", "%s.",
				values.Capital(values.ErrComputed.Error())))
		}
	case *hclsyntax.FunctionCallExpr:
		within = within || !whole[n.Name]
	case *hclsyntax.ObjectConsExpr, *hclsyntax.TupleConsExpr, *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr,
		*hclsyntax.ParenthesesExpr, *hclsyntax.ConditionalExpr, hclsyntax.ChildScope, *hclsyntax.ChildScope:
	default:
		within = true
	}
	w.inside = append(w.inside, within)
	return nil
}

// Exit implements hclsyntax.Walker.
func (w *secretWalk) Exit(hclsyntax.Node) hcl.Diagnostics {
	w.inside = w.inside[:len(w.inside)-1]
	return nil
}
