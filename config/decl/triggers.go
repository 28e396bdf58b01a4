package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/config/source"
)

// triggers decodes lifecycle.replace_triggered_by.
func (l *loader) triggers(a *hcl.Attribute) []hcl.Expression {
	if a == nil {
		return nil
	}
	items, bad := hcl.ExprList(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		l.add(source.Failure(a.Expr.Range(), "Invalid replace_triggered_by",
			"It is a list of resources and of values of them: [resource.NAME, resource.NAME.state.KEY]."))
		return nil
	}
	var out []hcl.Expression
	for _, item := range items {
		if ref, ok := l.t.Refs.AsReference(item); !ok || ref.Traversal.RootName() != "resource" {
			l.add(source.Failure(item.Range(), "Not a resource", "An element of replace_triggered_by names a resource, an instance of "+
				"one, or a value of it: resource.NAME, resource.NAME[\"KEY\"] or resource.NAME.state.KEY."))
			continue
		}
		out = append(out, item)
	}
	return out
}
