package addresses

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/values"
)

// PublishPrefix is the prefix of the addresses of publishes.
const PublishPrefix = "publish."

// Of converts a traversal to an address; problem reports why it is not one.
func Of(t hcl.Traversal) (address string, module bool, problem string) {
	var parts []string
	name := func(i int) string { // the name at step i, with the instance key after it
		out := refs.StepName(t, i)
		if key, ok := stepKey(t, i+1); ok {
			out += key
		}
		return out
	}
	length := func(i int) int {
		if _, ok := stepKey(t, i+1); ok {
			return 2
		}
		return 1
	}
	for i := 0; i < len(t); {
		word := t.RootName()
		if i > 0 {
			word = refs.StepName(t, i)
		}
		switch {
		case word == "module" && refs.StepName(t, i+1) != "":
			parts, module = append(parts, "module."+name(i+1)), true
			i += 1 + length(i+1)
			continue
		case i == 0 && word == "publish" && refs.StepName(t, 1) != "":
			parts, module = append(parts, PublishPrefix+refs.StepName(t, 1)), false
			i += 2
		case word == "resource" && refs.StepName(t, i+1) != "":
			parts, module = append(parts, name(i+1)), false
			i += 1 + length(i+1)
		case i > 0 && word != "" && word != "module" && word != "resource":
			parts, module = append(parts, name(i)), false // the form in which plans print addresses
			i += length(i)
		case i == 0:
			return "", false, fmt.Sprintf("An address begins with resource or module. Did you mean resource.%s?", refs.TraversalString(t))
		default:
			return "", false, fmt.Sprintf("%s is incomplete: a name is missing at its end.", refs.TraversalString(t))
		}
		if i < len(t) {
			return "", false, fmt.Sprintf("%s has more than the address of a resource. Did you mean %s?", refs.TraversalString(t),
				refs.TraversalString(t[:i]))
		}
	}
	return strings.Join(parts, "."), module, ""
}

// stepKey returns the instance key at step i of a traversal, as it is in addresses.
func stepKey(t hcl.Traversal, i int) (string, bool) {
	if i >= len(t) {
		return "", false
	}
	step, ok := t[i].(hcl.TraverseIndex)
	if !ok || !step.Key.IsKnown() || step.Key.IsNull() {
		return "", false
	}
	switch step.Key.Type() {
	case cty.String:
		return "[" + values.QuoteKey(step.Key.AsString()) + "]", true
	case cty.Number:
		return "[" + values.ShortNumber(step.Key) + "]", true
	}
	return "", false
}
