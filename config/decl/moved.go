package decl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
)

// Moved is a moved block: the entries in the state file at one address, and below it,
// belong to another address from now on.
type Moved struct {
	From, To string
	Range    diag.Range // the block's header
}

// MovedBlock is a decoded moved block.
type MovedBlock struct {
	Moved
	FromTarget, ToTarget Target
	At                   hcl.Range
}

// Target is the address in a moved or removed block.
type Target struct {
	Address string // "" = it is not valid
	module  bool   // the address is of a module, not of a resource
	At      hcl.Range
}

func (l *loader) moved(b *hcl.Block) {
	attrs := l.content(b.Body, movedSchema).Attributes
	if attrs["from"] == nil || attrs["to"] == nil {
		return // already reported
	}
	v := &MovedBlock{At: b.DefRange, FromTarget: l.target(attrs["from"]), ToTarget: l.target(attrs["to"])}
	if v.FromTarget.Address == "" || v.ToTarget.Address == "" {
		return
	}
	if v.FromTarget.module != v.ToTarget.module {
		l.add(source.Failure(v.ToTarget.At, "Addresses of different kinds", "%s cannot become %s: a resource is moved to a resource, a "+
			"module to a module.",
			v.FromTarget.kind(), v.ToTarget.kind()))
		return
	}
	if v.FromTarget.publishes() != v.ToTarget.publishes() {
		l.add(source.Failure(v.ToTarget.At, "Addresses of different kinds", "%s cannot become %s: a publish is moved to a "+
			"publish.", v.FromTarget.kind(),
			v.ToTarget.kind()))
		return
	}
	if v.FromTarget.Address == v.ToTarget.Address {
		l.add(source.Failure(v.ToTarget.At, "Moved to itself", "From and to are the same. Correct one of them, or remove the block."))
		return
	}
	v.Moved = Moved{From: v.FromTarget.Address, To: v.ToTarget.Address, Range: source.FromHCL(b.DefRange)}
	l.b.Moved = append(l.b.Moved, v)
}

func (t Target) publishes() bool { return strings.HasPrefix(t.Address, PublishPrefix) }

func (t Target) kind() string {
	if t.module || t.publishes() {
		return t.Address
	}
	return "the resource " + t.Address
}

// target parses an address: resource.NAME or module.NAME, with instance keys, and
// module.NAME.resource.NAME for a resource in a module.
func (l *loader) target(a *hcl.Attribute) Target {
	out := Target{At: a.Expr.Range()}
	t := l.t.Refs.AsAddress(a.Expr)
	if t == nil {
		l.add(source.Failure(out.At, "Not an address", "%q must be resource.NAME, resource.NAME[\"key\"], module.NAME, or "+
			"module.NAME.resource.NAME.", a.Name))
		return out
	}
	var problem string
	if out.Address, out.module, problem = AddressOf(t); problem != "" {
		out.Address = ""
		l.add(source.Failure(out.At, "Not an address", "%s", problem))
	}
	return out
}

// AddressOf converts a traversal to an address; problem reports why it is not one.
func AddressOf(t hcl.Traversal) (address string, module bool, problem string) {
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

// Removed is a removed block: the objects at an address, and below it, are no longer
// declared.
type Removed struct {
	From    string
	To      string     // the state that the objects belong to from now on, a URL or a file; "" = none
	Destroy bool       // otherwise it is forgotten: the real object is not destroyed
	Range   diag.Range // the block's header
}

// RemovedBlock is a decoded removed block.
type RemovedBlock struct {
	Removed
	FromTarget Target
	At         hcl.Range
}

func (l *loader) removed(b *hcl.Block) {
	c := l.content(b.Body, removedSchema)
	lifecycle := l.single(c, "lifecycle", removedLifecycleSchema)
	if c.Attributes["from"] == nil {
		return // already reported
	}
	v := &RemovedBlock{At: b.DefRange, FromTarget: l.target(c.Attributes["from"])}
	v.Removed = Removed{From: v.FromTarget.Address, Destroy: true, Range: source.FromHCL(b.DefRange)}
	if a := lifecycle["destroy"]; a != nil {
		value, diags := a.Expr.Value(nil)
		if diags.HasErrors() || value.Type() != cty.Bool || value.IsNull() || !value.IsKnown() {
			l.add(source.Failure(a.Expr.Range(), "Not a constant",
				"The value of destroy is true (the object is destroyed) or false (it is only forgotten)."))
			return
		}
		v.Destroy = value.True()
	}
	if a := c.Attributes["to"]; a != nil {
		v.To = l.otherState(a)
		if a := lifecycle["destroy"]; a != nil && v.To != "" {
			l.add(source.Failure(a.Range, "Moved and destroyed", "With to the objects belong to another state, and nothing is destroyed. "+
				"Remove lifecycle, or to."))
		}
		v.Destroy = false
	}
	if v.FromTarget.Address != "" {
		l.b.Removed = append(l.b.Removed, v)
	}
}

// otherState reads the place of another state, which must be a constant.
func (l *loader) otherState(a *hcl.Attribute) string {
	value, diags := a.Expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || value.IsNull() || !value.IsKnown() || value.AsString() == "" {
		l.add(source.Failure(a.Expr.Range(), "Not a constant", "The value of %s is a URL such as \"s3://acme/net\", or the path of a "+
			"state file, in quotes.", a.Name))
		return ""
	}
	return value.AsString()
}
