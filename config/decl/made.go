package decl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// AddLocal declares a local value that no expression of a manifest can name, as its name
// has a dot. What says in messages where it is written.
func (b *Module) AddLocal(name, what string, expr hcl.Expression) {
	b.Locals[name] = &Local{what: what, at: expr.Range(), Expr: expr}
}

// AddVariable declares such a variable of a module that another calls, which gives it expr.
func (b *Module) AddVariable(name string, at hcl.Range, expr hcl.Expression) {
	b.Variables[name] = &Variable{Block: Block{Name: name, At: at, Attrs: hcl.Attributes{}}, Typ: cty.DynamicPseudoType, Nullable: true}
	b.Call.Attrs[name] = &hcl.Attribute{Name: name, Expr: expr, Range: expr.Range(), NameRange: expr.Range()}
}
