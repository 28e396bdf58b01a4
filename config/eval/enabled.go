package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/refs"
)

// notEnabled returns the value of dep.ALIAS where the alias has no resource: null, if the block
// of the resource is not enabled; else no value.
func (e *Evaluator) notEnabled(alias string, at instance.Scope) cty.Value {
	if at.Res == nil {
		return cty.NilVal
	}
	to := at.Res.Decl.Aliases[alias].Resource
	if to == nil {
		return cty.NilVal
	}
	if s := e.M.ResourceSet(e, at.Mod, to.Name); s == nil || s.Pending || !s.Single() || s.N == 1 {
		return cty.NilVal
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

// explainDisabled rewrites the diagnostic about an attribute of a block that is not enabled, whose
// value is null. It reports whether it did.
func explainDisabled(e *Evaluator, d *hcl.Diagnostic, t hcl.Traversal, at instance.Scope) bool {
	root, name := t.RootName(), refs.StepName(t, 1)
	if root == "dep" {
		if e.notEnabled(name, at) == cty.NilVal {
			return false
		}
	} else {
		if !refs.MayRepeat(t[:2]) || root == "host" {
			return false
		}
		if x := e.set(root, name, at.Mod).Of; x == nil || x.Pending || !x.Single() || x.N == 1 {
			return false
		}
	}
	what := refs.TraversalString(t[:2])
	d.Summary = "Not enabled"
	d.Detail = fmt.Sprintf("%s is null, because its block has enabled = false. Write what to use in its place: %s == null ? OTHER : %s, "+
		"or try(%s, OTHER).", what, what, refs.TraversalString(t), refs.TraversalString(t))
	return true
}
