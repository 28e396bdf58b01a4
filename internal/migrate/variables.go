package migrate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/layout"
	"deployster/internal/migrate/tfrefs"
)

// variableType returns the type of a variable. A collection without the type of its elements takes any; Terraform
// once had types in quotes.
func (e *emitter) variableType(x hclsyntax.Expression) string {
	text := cmp.Or(hcl.ExprAsKeyword(x), tfrefs.Quoted(x))
	switch {
	case text == "list", text == "map", text == "set":
		return text + "(any)"
	case slices.Contains([]string{"string", "number", "bool", "any"}, text):
		return text
	}
	return e.expr(x)
}

// ephemeral refuses an ephemeral variable or output; ephemeral = false is left out.
func (e *emitter) ephemeral(b *hclsyntax.Block, it layout.Item) {
	if v, diags := it.Attr.Expr.Value(nil); diags.HasErrors() || v.Type().FriendlyName() != "bool" || v.IsNull() || v.True() {
		e.refuse(it.At(), "An ephemeral value", "%q is one, which is not supported: make it sensitive.", strings.Join(b.Labels, ""))
	}
}
