package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// lateCall says that an expression calls something whose result is not known
// until the plan is applied, where a value is needed earlier.
func (ck checker) lateCall(expr hcl.Expression, p place) *hcl.Diagnostic {
	names := ck.refs.volatileCalls(expr)
	if !p.static || len(names) == 0 {
		return nil
	}
	return failure(expr.Range(), "Known too late", "The result of %s() is known only when the plan is applied, and %s must be known before any resource is looked at. plantimestamp() is known: the time of the plan.", names[0], p.what)
}

// checkCondition finds references in a condition that cannot be.
func (ck checker) checkCondition(c condition, b *moduleBlock, owner *resource) hcl.Diagnostics {
	p := place{what: "a " + c.kind, self: c.ofItself}
	if owner != nil {
		p.repeated = &owner.block
	}
	if c.kind == "assert" {
		p.what = "an assertion"
	}
	return append(ck.checkRefs(c.expr, p, b, owner), ck.checkRefs(c.message, p, b, owner)...)
}

// What the roots of expressions have below them.
var (
	pathAttrs       = map[string]bool{"cwd": true, "module": true, "root": true}
	deploysterAttrs = map[string]bool{"verbose": true, "version": true, "workspace": true}
	eachAttrs       = map[string]bool{"key": true, "value": true}
	countAttrs      = map[string]bool{"index": true}
	resourceAttrs   = []string{"config", "name", "state", "type"}
)

// place is a kind of place where expressions stand: it decides what they may
// refer to.
type place struct {
	what   string // for messages: "the type of a resource"
	static bool   // evaluated before anything is known of resources
	types  bool   // type.NAME may be used though static
	late   bool   // what is made of resources may be used though static
	self   bool   // of a resource: self.state and the like may be used
	// repeated is the block whose each or count may be used, nil for none.
	repeated *block
}

// maxErrors is how many errors are reported of one expression.
const maxErrors = 20

// checkRefs finds references to things that do not exist or cannot be used at
// this place. owner is the resource whose aliases may be used, nil for none.
func (ck checker) checkRefs(expr hcl.Expression, p place, b *moduleBlock, owner *resource) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if d := ck.lateCall(expr, p); d != nil {
		diags = append(diags, d)
	}
	for _, ref := range ck.refs.references(expr) {
		if d := checkRef(b, ref, p, owner); d != nil {
			diags = append(diags, d)
		}
		if len(diags) == maxErrors {
			break
		}
	}
	return diags
}

// allows reports whether a root may be used at a place.
func (p place) allows(root string, owner *resource) bool {
	switch root {
	case "var", "local", "path", "deployster", "module":
		return true
	case "type":
		return !p.static || p.types
	case "plug", "resource":
		return !p.static
	case "dep":
		return !p.static && owner != nil
	case "self":
		return p.self
	case "each":
		return p.repeated != nil && p.repeated.attrs["for_each"] != nil
	case "count":
		return p.repeated != nil && p.repeated.attrs["count"] != nil
	}
	return false
}

// roots are the roots that may be used at a place, sorted.
func (p place) roots(owner *resource) []string {
	all := []string{"count", "dep", "deployster", "each", "local", "module", "path", "plug", "resource", "self", "type", "var"}
	return slices.DeleteFunc(all, func(root string) bool { return !p.allows(root, owner) })
}

func checkRef(b *moduleBlock, ref reference, p place, owner *resource) *hcl.Diagnostic {
	t := ref.t
	root, r := t.RootName(), t.SourceRange()
	if p.self && root == "self" {
		return resourceAttr(reference{t: selfTraversal(t)}, &block{})
	}
	if !p.allows(root, owner) {
		return wrongRoot(b, t, p.roots(owner), p)
	}
	name := stepName(t, 1)
	if name == "" {
		return failure(r, "Incomplete reference", "%q alone is not a value: write %s.NAME.", root, root)
	}
	switch root {
	case "var":
		if d := missing(t, "variable", b.variables, "Declare it with a variable block, or correct the name"); d != nil {
			return d
		}
		if p.static && !p.late && b.variables[name].dynamic {
			return tooLate(t, p, "is made of a resource where the module is called")
		}
	case "local":
		if d := missing(t, "local value", b.locals, "Declare it in a locals block, or correct the name"); d != nil {
			return d
		}
		if p.static && !p.late && b.locals[name].dynamic {
			return tooLate(t, p, "needs a resource, or what is made when the plan is applied")
		}
	case "type":
		return missing(t, "type", b.typeNames(), "Declare it with a type block, or correct the name")
	case "plug":
		return missing(t, "plug", b.root().plugs, "Declare it with a plug block, or correct the name")
	case "path":
		return missing(t, "path", pathAttrs, "Correct the name")
	case "deployster":
		return missing(t, "attribute of deployster", deploysterAttrs, "Correct the name")
	case "each":
		return missing(t, "attribute of each", eachAttrs, "Correct the name")
	case "count":
		return missing(t, "attribute of count", countAttrs, "Correct the name")
	case "resource":
		if d := missing(t, "resource", b.resources, "Declare it with a resource block, or correct the name"); d != nil {
			return d
		}
		return resourceAttr(ref, &b.resources[name].block)
	case "module":
		return moduleAttr(b, ref, p)
	case "dep":
		if d := missing(t, "dependency with the alias", owner.aliases, "Add it to the dependencies of this resource, or correct the name"); d != nil {
			return d
		}
		return resourceAttr(ref, &block{})
	}
	return nil
}

func tooLate(t hcl.Traversal, p place, why string) *hcl.Diagnostic {
	return failure(t.SourceRange(), "Known too late", "%s %s, and %s must be known before any resource is looked at. Use variables and constants here.", traversalString(t[:2]), why, p.what)
}

func wrongRoot(b *moduleBlock, t hcl.Traversal, roots []string, p place) *hcl.Diagnostic {
	root, r := t.RootName(), t.SourceRange()
	switch {
	case root == "resource" || root == "dep" && p.static:
		return failure(r, "Known too late", "%s cannot be used here: %s must be known before any resource is looked at. Use variables, local values and constants.", traversalString(t), p.what)
	case root == "self":
		return failure(r, "No self here", "self is a resource in its own postconditions, once it is there. In %s, write resource.NAME.", p.what)
	case root == "dep":
		return failure(r, "No dependencies here", "dep.ALIAS exists in the config of a resource only. In %s, write resource.NAME.", p.what)
	case root == "each":
		return failure(r, "Nothing to repeat", "each.key and each.value exist in a resource or module block with for_each only, and this block has none.%s", insteadOf(p, "count", "count.index"))
	case root == "count":
		return failure(r, "Nothing to repeat", "count.index exists in a resource or module block with count only, and this block has none.%s", insteadOf(p, "for_each", "each.key"))
	case root == "type" || root == "plug":
		return failure(r, "Invalid reference", "%s cannot be used here. %s may use %s.", traversalString(t), capital(p.what), strings.Join(roots, ", "))
	case b.resources[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean resource.%s?", root, traversalString(t))
	case b.variables[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean var.%s?", root, traversalString(t))
	case b.locals[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean local.%s?", root, traversalString(t))
	case b.calls[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean module.%s?", root, traversalString(t))
	}
	if text := b.foreignRoot(t); text != "" {
		return failure(r, "Unknown name", "There is nothing called %q here. %s", root, text)
	}
	hint := suggest(root, slices.Clone(roots))
	if hint == "" {
		hint = " Text must stand in quotes."
	}
	slices.Sort(roots)
	return failure(r, "Unknown name", "There is nothing called %q here: references begin with one of %s.%s", root, strings.Join(roots, ", "), hint)
}

func insteadOf(p place, attr, ref string) string {
	if p.repeated != nil && p.repeated.attrs[attr] != nil {
		return " Its block has " + attr + ": write " + ref + "."
	}
	return ""
}

// missing says that the second step of a traversal names nothing.
func missing[V any](t hcl.Traversal, kind string, declared map[string]V, advice string) *hcl.Diagnostic {
	name := stepName(t, 1)
	if _, ok := declared[name]; ok {
		return nil
	}
	names := slices.Sorted(maps.Keys(declared))
	return failure(t.SourceRange(), "Unknown name", "There is no %s %q: %s.%s %s.", kind, name, oneOf(slices.Clone(names)), suggest(name, slices.Clone(names)), advice)
}

// behindKey are the steps of a reference behind the key of an instance, if it has
// one. With a computed key, or for all instances, they are as far as is written.
func behindKey(ref reference, decl *block) (steps hcl.Traversal, keyed bool) {
	switch {
	case ref.key != nil || ref.splat:
		return ref.rest, true
	case len(ref.t) > 2 && decl.repeats():
		if _, index := ref.t[2].(hcl.TraverseIndex); index {
			return ref.t[3:], true
		}
		if _, splat := ref.t[2].(hcl.TraverseSplat); splat {
			return ref.t[3:], true
		}
	}
	return ref.t[2:], false
}

// resourceAttr checks what is read of a resource: resource.NAME.HERE.
func resourceAttr(ref reference, decl *block) *hcl.Diagnostic {
	t := ref.t
	short := traversalString(t[:2])
	steps, keyed := behindKey(ref, decl)
	switch {
	case keyed && !decl.repeats():
		return nil // a list of one, as HCL has it, or a computed attribute
	case !keyed && decl.repeats() && len(steps) > 0:
		return failure(t.SourceRange(), "One of several", "%s has instances, because of its %s: write %s; %s for all of them.", short, repetitionWord(decl), example(short, decl), allOf(short, decl))
	case len(steps) == 0:
		return nil
	}
	attr := objectKey(steps[0])
	if slices.Contains(resourceAttrs, attr) {
		return nil
	}
	hint := suggest(attr, slices.Clone(resourceAttrs))
	if hint == "" && attr != "" && !keyed {
		hint = fmt.Sprintf(" Did you mean %s.state.%s?", short, attr)
	}
	if _, index := steps[0].(hcl.TraverseIndex); index && !keyed {
		return failure(t.SourceRange(), "No instances", "%s has no for_each and no count, so that it has no instances to choose from: write %s.state.NAME.", short, short)
	}
	return failure(t.SourceRange(), "Unknown attribute", "A resource has the attributes config, name, state and type, and not %q.%s", attr, hint)
}

// allOf shows how all instances of a block are written.
func allOf(short string, decl *block) string {
	if decl.attrs["count"] != nil {
		return short + "[*].state"
	}
	return "values(" + short + ")[*].state"
}

// moduleAttr checks what is read of a module: module.NAME.OUTPUT.
func moduleAttr(b *moduleBlock, ref reference, p place) *hcl.Diagnostic {
	t := ref.t
	if d := missing(t, "module", b.calls, "Declare it with a module block, or correct the name"); d != nil {
		return d
	}
	name := stepName(t, 1)
	c, child := b.calls[name], b.children[name]
	if child == nil {
		return nil // its source could not be read, which has been said
	}
	short := traversalString(t[:2])
	steps, keyed := behindKey(ref, &c.block)
	switch {
	case keyed && !c.repeats() && !ref.splat:
		return failure(t.SourceRange(), "No instances", "%s has no for_each and no count, so that it has no instances to choose from: write %s.OUTPUT.", short, short)
	case !keyed && c.repeats() && len(steps) > 0:
		return failure(t.SourceRange(), "One of several", "%s has instances, because of its %s: write %s.", short, repetitionWord(&c.block), example(short, &c.block))
	case len(steps) > 0 && child.outputs[objectKey(steps[0])] == nil:
		out := objectKey(steps[0])
		hint := suggest(out, slices.Sorted(maps.Keys(child.outputs)))
		if child.resources[out] != nil || out == "resource" {
			hint = " What is inside a module is seen through its outputs only: declare one in the module."
		}
		return failure(t.SourceRange(), "Unknown output", "The module %q has no output %q: %s.%s", name, out, oneOf(slices.Sorted(maps.Keys(child.outputs))), hint)
	}
	if !p.static || p.late {
		return nil
	}
	for _, out := range outputsOf(ref, child) {
		if child.outputs[out].dynamic {
			return tooLate(t, p, "needs a resource (output "+out+")")
		}
	}
	return nil
}
