package expand

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/source"
)

// strayDefaults returns an error for a resource that would not get the defaults of its type, or would get
// those of another type: the type of the defaults is found in the type attribute without evaluating it.
func strayDefaults(r *decl.Resource, typ *decl.Block) hcl.Diagnostics {
	if typ != nil && typ.Attrs["defaults"] == nil {
		typ = nil
	}
	if r.Publish != nil || typ == r.DefaultsOf {
		return nil
	}
	name := typ
	if name == nil {
		name = r.DefaultsOf
	}
	return hcl.Diagnostics{source.Failure(r.Attrs["type"].Expr.Range(), "The defaults of a type do not reach this resource",
		"The type %q has defaults, so that a resource must name exactly this type: type = type.%s, or type = \"${type.%s}#KIND\". This "+
			"works in a module, too. Write it so, or remove the defaults and write them into the "+
			"configs.", name.Name, name.Name, name.Name)}
}
