package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/diag"
)

// Moved is a moved block: what is recorded under one address, and below it,
// belongs to another from now on.
type Moved struct {
	From, To string
	Range    diag.Range // the block's header
}

// moved is a moved block as it is written.
type moved struct {
	Moved
	from, to target
	at       hcl.Range
}

// target is the address in a moved or removed block.
type target struct {
	address string // "" = it could not be read
	module  bool   // it is a module, not a resource
	at      hcl.Range
}

var movedSchema = attributes("from!", "to!")

func (l *loader) moved(b *hcl.Block) {
	attrs := l.content(b.Body, movedSchema.BodySchema).Attributes
	if attrs["from"] == nil || attrs["to"] == nil {
		return // said already
	}
	v := &moved{at: b.DefRange, from: l.target(attrs["from"]), to: l.target(attrs["to"])}
	if v.from.address == "" || v.to.address == "" {
		return
	}
	if v.from.module != v.to.module {
		l.add(failure(v.to.at, "Unlike things", "%s cannot become %s: a resource is moved to a resource, a module to a module.", v.from.kind(), v.to.kind()))
		return
	}
	if v.from.address == v.to.address {
		l.add(failure(v.to.at, "Moved to itself", "From and to are the same. Correct one of them, or remove the block."))
		return
	}
	v.Moved = Moved{From: v.from.address, To: v.to.address, Range: fromHCL(b.DefRange)}
	l.b.moved = append(l.b.moved, v)
}

func (t target) kind() string {
	if t.module {
		return t.address
	}
	return "the resource " + t.address
}

// target reads an address: resource.NAME or module.NAME, with instance keys,
// and module.NAME.resource.NAME for what is in a module.
func (l *loader) target(a *hcl.Attribute) target {
	out := target{at: a.Expr.Range()}
	t := l.t.refs.asAddress(a.Expr)
	if t == nil {
		l.add(failure(out.at, "Not an address", "%q names what it is about: resource.NAME, resource.NAME[\"key\"], module.NAME, or module.NAME.resource.NAME.", a.Name))
		return out
	}
	var problem string
	if out.address, out.module, problem = addressOf(t); problem != "" {
		out.address = ""
		l.add(failure(out.at, "Not an address", "%s", problem))
	}
	return out
}

// addressOf reads a traversal as an address, as far as it is one.
func addressOf(t hcl.Traversal) (address string, module bool, problem string) {
	var parts []string
	name := func(i int) string { // of an attribute, with the key that may stand after it
		out := stepName(t, i)
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
			word = stepName(t, i)
		}
		switch {
		case word == "module" && stepName(t, i+1) != "":
			parts, module = append(parts, "module."+name(i+1)), true
			i += 1 + length(i+1)
			continue
		case word == "resource" && stepName(t, i+1) != "":
			parts, module = append(parts, name(i+1)), false
			i += 1 + length(i+1)
		case i > 0 && word != "" && word != "module" && word != "resource":
			parts, module = append(parts, name(i)), false // as addresses are printed
			i += length(i)
		case i == 0:
			return "", false, fmt.Sprintf("An address begins with resource or module. Did you mean resource.%s?", traversalString(t))
		default:
			return "", false, fmt.Sprintf("%s is incomplete: a name is missing at its end.", traversalString(t))
		}
		if i < len(t) {
			return "", false, fmt.Sprintf("%s has more than the address of a resource. Did you mean %s?", traversalString(t), traversalString(t[:i]))
		}
	}
	return strings.Join(parts, "."), module, ""
}

// stepKey is the instance key at step i of a traversal, as it is in addresses.
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
		return "[" + quoteKey(step.Key.AsString()) + "]", true
	case cty.Number:
		return "[" + shortNumber(step.Key) + "]", true
	}
	return "", false
}

// Removed is a removed block: what is recorded under an address, and below it,
// is no longer wanted.
type Removed struct {
	From    string
	Destroy bool       // else it is let go, and left as it is
	Range   diag.Range // the block's header
}

// removed is a removed block as it is written.
type removed struct {
	Removed
	from target
	at   hcl.Range
}

var (
	removedSchema          = attributes("from!").with("lifecycle")
	removedLifecycleSchema = attributes("destroy")
)

func (l *loader) removed(b *hcl.Block) {
	c := l.content(b.Body, removedSchema.BodySchema)
	lifecycle := l.single(c, "lifecycle", removedLifecycleSchema)
	if c.Attributes["from"] == nil {
		return // said already
	}
	v := &removed{at: b.DefRange, from: l.target(c.Attributes["from"])}
	v.Removed = Removed{From: v.from.address, Destroy: true, Range: fromHCL(b.DefRange)}
	if a := lifecycle["destroy"]; a != nil {
		value, diags := a.Expr.Value(nil)
		if diags.HasErrors() || value.Type() != cty.Bool || value.IsNull() || !value.IsKnown() {
			l.add(failure(a.Expr.Range(), "Not a constant", "The value of destroy is true or false: whether the thing is removed, or only let go."))
			return
		}
		v.Destroy = value.True()
	}
	if v.from.address != "" {
		l.b.removed = append(l.b.removed, v)
	}
}
