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

// Moved returns the moved blocks, in the order of their files.
func (m *Manifest) Moved() []Moved {
	var out []Moved
	m.eachModule(func(mod *module) {
		for _, b := range mod.block.moved {
			v := b.Moved
			v.From, v.To = mod.join(v.From), mod.join(v.To)
			out = append(out, v)
		}
	})
	return out
}

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
	t := l.m.asAddress(a.Expr)
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

// checkMoved finds moved blocks of a module that contradict the manifest or each
// other.
func (m *Manifest) checkMoved(mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	from, to := map[string]*moved{}, map[string]*moved{}
	for _, v := range mod.block.moved {
		if first := from[v.From]; first != nil {
			diags = append(diags, failure(v.from.at, "Moved twice", "%s is moved already, to %s, at %s:%d. It can go to one place only: remove one of the blocks.",
				v.From, first.To, first.at.Filename, first.at.Start.Line))
			continue
		}
		from[v.From] = v
		if first := to[v.To]; first != nil {
			diags = append(diags, failure(v.to.at, "Moved to one place", "%s is moved to %s already, at %s:%d. Two cannot have one address: remove one of the blocks.",
				first.From, v.To, first.at.Filename, first.at.Start.Line))
			continue
		}
		to[v.To] = v
		if at, there := m.stillDeclared(mod, v.from.address, v.to.address); there {
			diags = append(diags, failure(v.from.at, "Moved, and still there",
				"This says that %s is now %s, but %s is still declared, at %s:%d. Rename that block to what it is now, or remove the moved block.",
				v.From, v.To, v.From, at.Filename, at.Start.Line))
		}
	}
	return append(diags, circles(mod.block.moved, from)...)
}

// circles finds moved blocks that lead back to where they begin.
func circles(list []*moved, from map[string]*moved) hcl.Diagnostics {
	var diags hcl.Diagnostics
	said := map[*moved]bool{}
	for _, v := range list {
		path := []string{v.From}
		for next := v; next != nil && len(path) <= len(list)+1 && !said[next]; next = from[next.To] {
			path = append(path, next.To)
			if next.To != v.From {
				continue
			}
			for _, on := range path[:len(path)-1] {
				said[from[on]] = true
			}
			diags = append(diags, failure(v.from.at, "Moved in a circle", "These moved blocks lead back to where they begin: %s. Remove one of them.", strings.Join(path, " to ")))
			break
		}
	}
	return diags
}

// stillDeclared says where an address is declared, if it is: a resource, or a
// block. That a block got for_each or count, and what it made before becomes one
// of the instances, is no contradiction.
func (m *Manifest) stillDeclared(mod *module, address, to string) (hcl.Range, bool) {
	becomes := strings.HasPrefix(to, address+"[")
	if r := mod.block.resources[address]; r != nil && !(r.repeats() && becomes) {
		return r.at, true
	}
	if c := mod.block.calls[strings.TrimPrefix(address, "module.")]; c != nil && address != c.name && !(c.repeats() && becomes) {
		return c.at, true
	}
	if i := m.find(mod.join(address)); i != nil {
		return i.block.at, true
	}
	return hcl.Range{}, false
}
