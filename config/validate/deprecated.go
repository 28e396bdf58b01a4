package validate

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/config/variables"
)

// deprecated returns a warning for each use of a deprecated variable or output of the modules that
// a module calls.
func (ck Checker) deprecated(b *decl.Module) (diags hcl.Diagnostics) {
	some := false
	for _, child := range b.Children {
		for _, name := range child.Call.Inputs() {
			if v := child.Variables[name]; v != nil && v.Deprecated != "" {
				what := "The variable \"" + name + "\" of the module \"" + child.Call.Name + "\""
				diags = append(diags, variables.Deprecation(v.Deprecated, v.At, child.Call.Attrs[name].NameRange, what))
			}
		}
		for _, o := range child.Outputs {
			some = some || o.Deprecated != ""
		}
	}
	if !some {
		return diags
	}
	b.Everywhere(func(expr hcl.Expression) {
		for _, ref := range ck.Refs.References(expr) {
			child := b.Children[refs.StepName(ref.Traversal, 1)]
			if ref.Traversal.RootName() != "module" || child == nil {
				continue
			}
			for _, name := range decl.OutputsOf(ref, child) {
				if o := child.Outputs[name]; o.Deprecated != "" {
					what := "The output \"" + name + "\" of the module \"" + child.Call.Name + "\""
					diags = append(diags, variables.Deprecation(o.Deprecated, o.At, ref.Traversal.SourceRange(), what))
				}
			}
		}
	})
	return diags
}
