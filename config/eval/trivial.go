package eval

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/refs"
)

// maxSimpleText is how many bytes of text a simple config may have.
const maxSimpleText = 64 << 10

// IsTrivial reports whether the config of an instance certainly evaluates without errors while
// no state is known: it is simple, and refers only to variables that have simple values, and to
// states. Most configs are like this, and evaluating one takes ten times as long as this check.
func (m *Modules) IsTrivial(i *instance.Instance) bool {
	if len(i.Decl.Before) > 0 || len(i.Decl.After) > 0 || m.simpleConfig(i) == nil {
		return false
	}
	text := 0
	for _, ref := range m.Refs.References(i.Decl.Attrs["config"].Expr) {
		t := ref.Traversal
		name := refs.StepName(t, 1)
		switch t.RootName() {
		case "var":
			v := i.Mod.Vars[name].Value
			if v == cty.NilVal || len(t) != 2 {
				return false
			}
			if v, _ = v.Unmark(); !refs.IsSimpleValue(v) {
				return false
			}
			if v.Type() == cty.String {
				text += len(v.AsString())
			}
		case "resource":
			if onlyInstance(i.Mod, name) == nil || len(t) <= 2 || refs.StepName(t, 2) != "state" {
				return false
			}
		default:
			return false
		}
	}
	return text <= maxSimpleText
}

// simpleConfig returns the config of an instance if it is simple, nil if not.
func (m *Modules) simpleConfig(i *instance.Instance) *hclsyntax.ObjectConsExpr {
	a := i.Decl.Attrs["config"]
	if a == nil || i.Decl.Ignored.Any() || !m.Refs.Facts(a.Expr).Simple {
		return nil
	}
	object, _ := a.Expr.(*hclsyntax.ObjectConsExpr)
	return object
}

// onlyInstance returns the instance of a resource that has neither for_each nor
// count and is enabled. The caller has checked that the resource exists.
func onlyInstance(mod *instance.Module, name string) *instance.Instance {
	s := mod.Resources[name]
	if s == nil || s.Pending || !s.Single() || s.N == 0 {
		return nil
	}
	return &s.List[0]
}
