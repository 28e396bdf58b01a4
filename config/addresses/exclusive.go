package addresses

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/values"
)

// ExclusivePrefix is the prefix of the addresses of what exclusive sets destroy.
const ExclusivePrefix = "exclusive."

// Exclusive returns the address of an object that a set destroys.
func Exclusive(set, identity string) string {
	return ExclusivePrefix + set + "[" + values.QuoteKey(identity) + "]"
}

// ParseExclusive returns the address of an object that a set destroys, as plans print it; "" = the text is not one.
func ParseExclusive(text string) string {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() || len(t) != 3 || t.RootName()+"." != ExclusivePrefix {
		return ""
	}
	key, ok := t[2].(hcl.TraverseIndex)
	if name := refs.StepName(t, 1); ok && name != "" && key.Key.Type() == cty.String {
		return Exclusive(name, key.Key.AsString())
	}
	return ""
}

// ExclusiveSet returns the name of the set that destroys what has an address; "" = none does.
func ExclusiveSet(addr string) string {
	rest, is := strings.CutPrefix(addr, ExclusivePrefix)
	if name, _, keyed := strings.Cut(rest, "["); is && keyed {
		return name
	}
	return ""
}
