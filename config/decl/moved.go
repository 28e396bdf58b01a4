package decl

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/addresses"
	"deployster/config/schema"
	"deployster/config/source"
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
	attrs := l.content(b.Body, schema.Moved).Attributes
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

func (t Target) publishes() bool { return strings.HasPrefix(t.Address, addresses.PublishPrefix) }

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
	if out.Address, out.module, problem = addresses.Of(t); problem != "" {
		out.Address = ""
		l.add(source.Failure(out.At, "Not an address", "%s", problem))
	}
	return out
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
	c := l.content(b.Body, schema.Removed)
	lifecycle := l.single(c, "lifecycle", schema.RemovedLifecycle)
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
