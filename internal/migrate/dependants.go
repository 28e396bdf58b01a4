package migrate

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/layout"
)

// isNeeded reports whether something may have to be changed before an object is destroyed:
// another resource of the module, or dependants elsewhere, which refer to it by a local value,
// a module or an output of a module. Nothing depends on the outputs of the root module.
func (d *module) isNeeded(of *hclsyntax.Block) bool {
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			if b == of || slices.Contains([]string{"moved", "removed", "import", "check"}, b.Type) || b.Type == "output" && d.out == "." {
				continue
			}
			found := false
			_ = hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics { // the function returns no diagnostics
				x, ok := n.(*hclsyntax.ScopeTraversalExpr)
				if !ok || len(x.Traversal) < 2 || x.Traversal.RootName() != of.Labels[0] {
					return nil
				}
				step, ok := x.Traversal[1].(hcl.TraverseAttr)
				found = found || ok && step.Name == of.Labels[1]
				return nil
			})
			if found {
				return true
			}
		}
	}
	return false
}

// createFirst leaves out create_before_destroy if nothing depends on the object, else it refuses it.
func (e *emitter) createFirst(of *hclsyntax.Block, it layout.Item) {
	if e.module.isNeeded(of) {
		e.refuse(it.At(), "create_before_destroy", "%s.%s has it, and is referred to: here the type replaces it, and destroys first.",
			of.Labels[0], of.Labels[1])
		return
	}
	e.note(it.At(), "%s.%s is destroyed before it is created again, where it was created first: create_before_destroy is left out",
		of.Labels[0], of.Labels[1])
}
