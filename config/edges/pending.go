package edges

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/instance"
)

// instancesOf adds the artifacts and hosts that the future instances of a pending block depend on.
func (r *collector) instancesOf(x *instance.Expansion, into *depSet) {
	name := strings.TrimPrefix(x.Address, x.Mod.Address+".")
	if block := x.Mod.Decl.Resources[name]; block != nil {
		for _, expr := range block.Expressions() {
			r.artifactsOf(expr, x.Mod, into)
		}
		return
	}
	if c := x.Mod.Decl.Calls[strings.TrimPrefix(name, "module.")]; c != nil {
		for _, input := range c.Inputs() {
			r.artifactsOf(c.Attrs[input].Expr, x.Mod, into)
		}
	}
}

// artifactsOf adds the artifacts and hosts that an expression of a block without instances depends on.
func (r *collector) artifactsOf(expr hcl.Expression, mod *instance.Module, into *depSet) {
	found := &depSet{}
	for _, ref := range r.e.M.Refs.References(expr) {
		if root := ref.Traversal.RootName(); root == "artifact" || root == "host" || root == "local" || root == "var" {
			r.ref(ref, mod.Scope(), found)
		}
	}
	for name := range found.files {
		into.artifact(name)
	}
	for name := range found.facts {
		into.lack(name)
	}
}
