package eval

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/addresses"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// ConvertTo converts a value to the type that its place needs.
func ConvertTo(value cty.Value, want cty.Type, at hcl.Range, what string) (cty.Value, hcl.Diagnostics) {
	got, err := convert.Convert(value, want)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{source.Failure(at, "Wrong type", "%s must be %s.", values.Capital(what), values.Mismatch(want,
			value, err))}
	}
	return got, nil
}

// declared returns the attributes that a type's schema declares for the state at the end of a reference; nil
// = the reference ends elsewhere.
func declared(e *Evaluator, t hcl.Traversal) map[string]values.StateType {
	if n := len(t) - 1; n < 2 || t.RootName() != "resource" || refs.ObjectKey(t[n]) != "state" {
		return nil
	}
	return e.stateType(strings.TrimPrefix(refs.TraversalString(t[:len(t)-1]), "resource.")).Attrs
}

// stateType returns the type of a resource's state by the schema in the scope.
func (e *Evaluator) stateType(address string) values.StateType {
	if t, ok := e.types[address]; ok {
		return t
	}
	schema := e.scope[address].Schema
	if strings.HasPrefix(address, addresses.PublishPrefix) {
		schema = publishedSchema
	}
	t := e.M.types.Of(schema)
	put(&e.types, address, t)
	return t
}
