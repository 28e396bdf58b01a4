package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/variables"
)

// AddLocal declares a local value with a dot in its name, so that no expression of a
// manifest can refer to it. what names it in messages.
func (b *Module) AddLocal(name, what string, expr hcl.Expression) {
	b.Locals[name] = &Local{what: what, at: expr.Range(), Expr: expr}
}

// AddVariable declares a variable with a dot in its name in a called module, and sets it to expr in the module block.
func (b *Module) AddVariable(name string, at hcl.Range, expr hcl.Expression) {
	b.Variables[name] = &Variable{Block: Block{Name: name, At: at, Attrs: hcl.Attributes{}}, Spec: variables.Any(name, at)}
	b.Call.Attrs[name] = &hcl.Attribute{Name: name, Expr: expr, Range: expr.Range(), NameRange: expr.Range()}
}
