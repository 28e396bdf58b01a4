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
		"The type %q has defaults, so that a resource says that it is of this type and of no other: type = type.%s, or "+
			"type = \"${type.%s}#KIND\". A resource of a module can say so too. Write it so, or take the defaults away and write them into "+
			"the configs.", name.Name, name.Name, name.Name)}
}
