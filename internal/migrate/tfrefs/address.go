package tfrefs

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Key is the Terraform name of a resource in its module.
type Key struct {
	Data       bool
	Kind, Name string
}

// KeyOf returns the key of a resource or a data source by its block.
func KeyOf(b *hclsyntax.Block) Key { return Key{b.Type == "data", b.Labels[0], b.Labels[1]} }

func (k Key) String() string {
	if k.Data {
		return "data." + k.Kind + "." + k.Name
	}
	return k.Kind + "." + k.Name
}

// Compare compares two keys by their texts.
func Compare(a, b Key) int { return strings.Compare(a.String(), b.String()) }

// HasInstances reports whether a block has a count or a for_each.
func HasInstances(b *hclsyntax.Block) bool {
	return b.Body.Attributes["count"] != nil || b.Body.Attributes["for_each"] != nil
}

// Resource parses TYPE.NAME or data.TYPE.NAME, and returns how many steps that takes.
func Resource(t hcl.Traversal) (k Key, used int, ok bool) {
	if k.Data = t.RootName() == "data"; k.Data {
		used = 1
	}
	if len(t) < used+2 {
		return k, 0, false
	}
	if k.Data {
		kind, is := t[1].(hcl.TraverseAttr)
		if !is {
			return k, 0, false
		}
		k.Kind = kind.Name
	} else {
		k.Kind = t.RootName()
	}
	name, is := t[used+1].(hcl.TraverseAttr)
	k.Name = name.Name
	return k, used + 2, is
}

// Range returns the range of the first steps of a traversal.
func Range(t hcl.Traversal, steps int) hcl.Range {
	return hcl.RangeBetween(t[0].SourceRange(), t[steps-1].SourceRange())
}

// Address parses module.A["k"].TYPE.NAME["k"]: the modules, in the form of the
// manifests, the resource, and its instance key.
func Address(x hcl.Expression) (modules []string, k Key, key string, ok bool) {
	t, diags := hcl.AbsTraversalForExpr(x)
	if diags.HasErrors() {
		return nil, k, "", false
	}
	for len(t) >= 2 && Step(t[0]) == "module" {
		step := "module." + Step(t[1])
		if t = t[2:]; len(t) > 0 {
			if i, is := t[0].(hcl.TraverseIndex); is {
				step, t = step+indexText(i), t[1:]
			}
		}
		modules = append(modules, step)
	}
	if len(t) == 0 {
		return modules, k, "", len(modules) > 0
	}
	if Step(t[0]) == "data" || len(t) < 2 || len(t) > 3 {
		return nil, k, "", false
	}
	k.Kind, k.Name = Step(t[0]), Step(t[1])
	if len(t) == 3 {
		i, is := t[2].(hcl.TraverseIndex)
		if !is {
			return nil, k, "", false
		}
		key = indexText(i)
	}
	return modules, k, key, true
}

// Step returns the name of a step of a reference, "" for an index.
func Step(t hcl.Traverser) string {
	switch s := t.(type) {
	case hcl.TraverseRoot:
		return s.Name
	case hcl.TraverseAttr:
		return s.Name
	}
	return ""
}

func indexText(i hcl.TraverseIndex) string {
	if i.Key.Type().FriendlyName() == "number" {
		return "[" + i.Key.AsBigFloat().Text('f', 0) + "]"
	}
	return "[" + strconv.Quote(i.Key.AsString()) + "]"
}

// Instance returns the key of an instance at this step of a reference, in brackets.
func Instance(t hcl.Traversal, at int) string {
	if len(t) > at {
		if i, ok := t[at].(hcl.TraverseIndex); ok {
			return indexText(i)
		}
	}
	return ""
}

// IsWhole reports whether a reference names a resource or a module, or an instance of it, and nothing of its values.
func IsWhole(t hcl.Traversal) bool {
	used := 2
	if _, steps, ok := Resource(t); ok && t.RootName() != "module" {
		used = steps
	}
	return t.RootName() != "local" && (len(t) == used || len(t) == used+1 && Instance(t, used) != "")
}

// ProviderOf returns the provider of a resource, by its name in the module.
func ProviderOf(b *hclsyntax.Block) string {
	if a := b.Body.Attributes["provider"]; a != nil {
		return ProviderIn(a.Expr)
	}
	name, _, _ := strings.Cut(b.Labels[0], "_")
	return name
}

// ProviderIn parses a reference to a provider.
func ProviderIn(e hcl.Expression) string {
	traversal, diags := hcl.AbsTraversalForExpr(e)
	if diags.HasErrors() {
		return ""
	}
	key := traversal.RootName()
	if len(traversal) == 2 {
		if attr, ok := traversal[1].(hcl.TraverseAttr); ok {
			key += "." + attr.Name
		}
	}
	return key
}

// WithoutAlias returns the name of a provider without its alias.
func WithoutAlias(key string) string {
	name, _, _ := strings.Cut(key, ".")
	return name
}

// Quoted returns the text of a constant in quotes, "" for anything else.
func Quoted(x hcl.Expression) string {
	v, diags := x.Value(nil)
	if diags.HasErrors() || v.Type().FriendlyName() != "string" || v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}

// BlockType returns the type of a block; a dynamic block has it as its label.
func BlockType(b *hclsyntax.Block) string {
	if b.Type == "dynamic" && len(b.Labels) == 1 {
		return b.Labels[0]
	}
	return b.Type
}

// ModulePath parses module.A["k"].module.B.
func ModulePath(address string) (modules []string, ok bool) {
	if address == "" {
		return nil, true
	}
	x, diags := hclsyntax.ParseExpression([]byte(address), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, false
	}
	modules, k, _, ok := Address(x)
	return modules, ok && k.Kind == ""
}
