package funcs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// TypeText is the mark of the result of type(): text that a console prints without quotes.
type TypeText struct{}

// typeFunction returns type(), which describes the type of a value. It is for people:
// nothing can be computed with its result.
func typeFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("value")},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			plain, _ := args[0].UnmarkDeep()
			return cty.StringVal(typeText(plain.Type(), "")).Mark(TypeText{}), nil
		},
	})
}

// typeText returns a type in the form of a type constraint, over several lines if it
// has parts.
func typeText(t cty.Type, indent string) string {
	deeper := indent + "    "
	switch {
	case t.IsListType():
		return "list(" + elementText(t.ElementType(), indent) + ")"
	case t.IsSetType():
		return "set(" + elementText(t.ElementType(), indent) + ")"
	case t.IsMapType():
		return "map(" + elementText(t.ElementType(), indent) + ")"
	case t.IsTupleType():
		if len(t.TupleElementTypes()) == 0 {
			return "tuple([])"
		}
		var b strings.Builder
		for _, element := range t.TupleElementTypes() {
			b.WriteString(deeper + typeText(element, deeper) + ",\n")
		}
		return "tuple([\n" + b.String() + indent + "])"
	case t.IsObjectType():
		if len(t.AttributeTypes()) == 0 {
			return "object({})"
		}
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(t.AttributeTypes())) {
			fmt.Fprintf(&b, "%s%s: %s,\n", deeper, name, typeText(t.AttributeType(name), deeper))
		}
		return "object({\n" + b.String() + indent + "})"
	}
	return t.FriendlyName()
}

// elementText returns the type of a collection's elements.
func elementText(t cty.Type, indent string) string {
	deeper := indent + "    "
	if text := typeText(t, deeper); strings.Contains(text, "\n") {
		return "\n" + deeper + text + ",\n" + indent
	}
	return typeText(t, indent)
}
