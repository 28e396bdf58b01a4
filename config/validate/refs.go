package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/addresses"
	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/words"
)

// lateCall returns an error if an expression whose value is needed earlier calls a
// function whose result is known only during apply.
func (ck Checker) lateCall(expr hcl.Expression, p decl.Usage) *hcl.Diagnostic {
	names := ck.Refs.ImpureCalls(expr)
	if !p.Static || len(names) == 0 {
		return nil
	}
	return source.Failure(expr.Range(), "Known too late", "The result of %s() is known only when the plan is applied, and %s must be "+
		"known before any resource is read. plantimestamp() is known: the time of the plan.", names[0], p.What)
}

// resourceAttrs are the attributes of a resource.
var resourceAttrs = []string{"config", "name", "state", "type"}

// MaxErrors is how many errors are reported for one expression.
const MaxErrors = 20

// CheckRefs returns an error for each reference to an undeclared name or to one that
// cannot be used at this place.
func (ck Checker) CheckRefs(expr hcl.Expression, p decl.Usage, b *decl.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if d := ck.lateCall(expr, p); d != nil {
		diags = append(diags, d)
	}
	all := ck.Refs.References(expr)
	for _, ref := range all {
		if d := checkRef(b, ref, p); d != nil {
			diags = append(diags, d)
		}
		if len(diags) == MaxErrors {
			break
		}
	}
	if p.Secrets && slices.ContainsFunc(all, func(ref refs.Reference) bool { return ref.Traversal.RootName() == "secret" }) {
		diags = append(diags, computed(expr)...)
	}
	return diags
}

// checkAll checks the references in the expressions of a module that are evaluated
// when states are known; static ones are checked where they are evaluated.
func (ck Checker) checkAll(b *decl.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	b.Expressions(func(x decl.Expression) {
		d := ck.CheckRefs(x.Expr, x.Usage, b)
		if x.Invalid != nil && d.HasErrors() {
			*x.Invalid = true
		}
		diags = append(diags, d...)
	})
	return diags
}

func checkRef(b *decl.Module, ref refs.Reference, p decl.Usage) *hcl.Diagnostic {
	t := ref.Traversal
	root, r := t.RootName(), t.SourceRange()
	if p.Self && root == "self" {
		return resourceAttr(refs.Reference{Traversal: refs.SelfTraversal(t)}, &decl.Block{})
	}
	if p.Plan && root == "plan" || p.Denied && root == "deny" {
		return nil
	}
	kind := decl.KindOf(root)
	if kind == nil || !kind.Allows(p) {
		return wrongRoot(b, t, p.Roots(), p)
	}
	name := refs.StepName(t, 1)
	if name == "" {
		return source.Failure(r, "Incomplete reference", "%q alone is not a value: write %s.NAME.", root, root)
	}
	if d := missing(t, b, p); d != nil {
		return d
	}
	if why := kind.Late(b, name); why != "" && p.Static && !p.Late {
		return tooLate(t, p, why)
	}
	switch root {
	case "resource":
		return resourceAttr(ref, &b.Named(name, p).Block)
	case "module":
		return moduleAttr(b, ref, p)
	case "dep":
		return resourceAttr(ref, &decl.Block{})
	case "artifact":
		return fixedAttr(ref, "An artifact", artifactAttrs)
	case "host":
		return hostAttr(ref, b.Hosts[name])
	case "remote_state":
		return fixedAttr(ref, "A remote_state", []string{"outputs"})
	case "publish":
		return publishAttr(ref, b.Resources[addresses.PublishPrefix+name])
	case "secret":
		return fixedAttr(ref, "A secret", []string{"value"})
	}
	return nil
}

func tooLate(t hcl.Traversal, p decl.Usage, why string) *hcl.Diagnostic {
	return source.Failure(t.SourceRange(), "Known too late", "%s %s, and %s must be known before any resource is read. Use variables "+
		"and constants here.", refs.TraversalString(t[:2]), why, p.What)
}

func wrongRoot(b *decl.Module, t hcl.Traversal, roots []string, p decl.Usage) *hcl.Diagnostic {
	root, r := t.RootName(), t.SourceRange()
	switch {
	case root == "secret":
		return source.Failure(r, "A secret cannot be used here", "%s may stand in the config of a resource, in the env of a type and "+
			"in the content of a plug. %s would be printed, recorded or needed before the secret is read.", refs.TraversalString(t),
			values.Capital(p.What))
	case root == "artifact":
		return source.Failure(r, "Known too late", "%s cannot be used here: the plan finds the version, and %s must be known before. "+
			"Use variables, local values and constants.", refs.TraversalString(t), p.What)
	case root == "host":
		return source.Failure(r, "Known too late", "%s cannot be used here: the plan reads the facts of a host, and %s must be known "+
			"before. Use variables, local values and constants.", refs.TraversalString(t), p.What)
	case root == "resource" || root == "publish" || root == "dep" && p.Static:
		return source.Failure(r, "Known too late", "%s cannot be used here: %s must be known before any resource is read. Use "+
			"variables, local values and constants.", refs.TraversalString(t), p.What)
	case root == "plan" && len(t) > 1:
		return source.Failure(r, "plan is not available here", "plan is the whole plan, and exists in the rules of a policy only.")
	case root == "deny" && p.Plan:
		return source.Failure(r, "deny is not available here", "deny is what the rule denies, and exists in its message only.")
	case root == "self":
		return source.Failure(r, "self is not available here",
			"self is a resource in its own postconditions, once it exists. In %s, write resource.NAME.",
			p.What)
	case root == "dep":
		return source.Failure(r, "No dependencies here", "dep.ALIAS exists in the config of a resource only. In %s, write resource.NAME.",
			p.What)
	case root == "each":
		return source.Failure(r, "each is not available here",
			"each.key and each.value exist in a resource or module block with for_each only, and "+
				"this block has none.%s", insteadOf(p, "count", "count.index"))
	case root == "count":
		return source.Failure(r, "count is not available here",
			"count.index exists in a resource or module block with count only, and this block has none.%s", insteadOf(p, "for_each",
				"each.key"))
	case root == "type" || root == "plug":
		return source.Failure(r, "Invalid reference", "%s cannot be used here. %s may use %s.", refs.TraversalString(t),
			values.Capital(p.What), strings.Join(roots, ", "))
	case b.Resources[root] != nil:
		return source.Failure(r, "Unknown name", "%q is not declared here. Did you mean resource.%s?", root, refs.TraversalString(t))
	case b.Variables[root] != nil:
		return source.Failure(r, "Unknown name", "%q is not declared here. Did you mean var.%s?", root, refs.TraversalString(t))
	case b.Locals[root] != nil:
		return source.Failure(r, "Unknown name", "%q is not declared here. Did you mean local.%s?", root, refs.TraversalString(t))
	case b.Calls[root] != nil:
		return source.Failure(r, "Unknown name", "%q is not declared here. Did you mean module.%s?", root, refs.TraversalString(t))
	}
	if text := b.TerraformHint(t); text != "" {
		return source.Failure(r, "Unknown name", "%q is not declared here. %s", root, text)
	}
	hint := words.DidYouMean(root, slices.Clone(roots))
	if hint == "" {
		hint = " Text must stand in quotes."
	}
	slices.Sort(roots)
	return source.Failure(r, "Unknown name", "%q is not declared here: references begin with one of %s.%s", root, strings.Join(roots,
		", "), hint)
}

func insteadOf(p decl.Usage, attr, ref string) string {
	if p.Repeated != nil && p.Repeated.Attrs[attr] != nil {
		return " Its block has " + attr + ": write " + ref + "."
	}
	return ""
}

// missing returns an error if the second step of a traversal is not declared for its
// first step.
func missing(t hcl.Traversal, b *decl.Module, p decl.Usage) *hcl.Diagnostic {
	kind, name := decl.KindOf(t.RootName()), refs.StepName(t, 1)
	declared := kind.Declared(b, p)
	if declared.Has(name) {
		return nil
	}
	names := declared.List()
	unknown := fmt.Sprintf("There is no %s %q: %s.", kind.Noun, name, words.ThereAre(names))
	if kind.Block != "" && kind.Block != "deployster" {
		unknown = fmt.Sprintf("%s %q is not declared: %s.", values.Capital(kind.Noun), name, words.ThereAre(names))
		if len(names) == 0 {
			unknown = fmt.Sprintf("%s %q is not declared (no %ss are).", values.Capital(kind.Noun), name, kind.Noun)
		}
	}
	return source.Failure(t.SourceRange(), "Unknown name", "%s%s %s.", unknown, words.DidYouMean(name, names), kind.Advice)
}

// behindKey returns the steps of a reference after the instance key, and whether it has
// one. After a computed key or a splat, the steps are as far as the reference has them.
func behindKey(ref refs.Reference, decl *decl.Block) (steps hcl.Traversal, keyed bool) {
	switch {
	case ref.Key != nil || ref.Splat:
		return ref.Rest, true
	case len(ref.Traversal) > 2 && decl.Repeats():
		if _, index := ref.Traversal[2].(hcl.TraverseIndex); index {
			return ref.Traversal[3:], true
		}
		if _, splat := ref.Traversal[2].(hcl.TraverseSplat); splat {
			return ref.Traversal[3:], true
		}
	}
	return ref.Traversal[2:], false
}

// resourceAttr checks which attribute of a resource a reference reads: resource.NAME.HERE.
func resourceAttr(ref refs.Reference, decl *decl.Block) *hcl.Diagnostic {
	t := ref.Traversal
	short := refs.TraversalString(t[:2])
	steps, keyed := behindKey(ref, decl)
	switch {
	case keyed && !decl.Repeats():
		return nil // HCL treats it as a list of one, or it is a computed attribute
	case !keyed && decl.Repeats() && len(steps) > 0:
		return source.Failure(t.SourceRange(), "One of several", "%s has instances, because of its %s: write %s; %s for all of them.",
			short, repetitionWord(decl), example(short, decl), allOf(short, decl))
	case len(steps) == 0:
		return nil
	}
	attr := refs.ObjectKey(steps[0])
	if slices.Contains(resourceAttrs, attr) {
		return nil
	}
	hint := words.DidYouMean(attr, slices.Clone(resourceAttrs))
	if hint == "" && attr != "" && !keyed {
		hint = fmt.Sprintf(" Did you mean %s.state.%s?", short, attr)
	}
	if _, index := steps[0].(hcl.TraverseIndex); index && !keyed {
		return source.Failure(t.SourceRange(), "No instances", "%s has no for_each and no count, so that it has no instances to choose "+
			"from: write %s.state.NAME.", short, short)
	}
	return source.Failure(t.SourceRange(), "Unknown attribute", "A resource has the attributes config, name, state and type, and not %q.%s",
		attr, hint)
}

// allOf returns how a manifest refers to all instances of a block.
func allOf(short string, decl *decl.Block) string {
	if decl.Attrs["count"] != nil {
		return short + "[*].state"
	}
	return "values(" + short + ")[*].state"
}

// moduleAttr checks which output of a module a reference reads: module.NAME.OUTPUT.
func moduleAttr(b *decl.Module, ref refs.Reference, p decl.Usage) *hcl.Diagnostic {
	t := ref.Traversal
	name := refs.StepName(t, 1)
	c, child := b.Calls[name], b.Children[name]
	if child == nil {
		return nil // its source could not be read, which is already reported
	}
	short := refs.TraversalString(t[:2])
	steps, keyed := behindKey(ref, &c.Block)
	switch {
	case keyed && !c.Repeats() && !ref.Splat:
		return source.Failure(t.SourceRange(), "No instances", "%s has no for_each and no count, so that it has no instances to choose "+
			"from: write %s.OUTPUT.", short, short)
	case !keyed && c.Repeats() && len(steps) > 0:
		return source.Failure(t.SourceRange(), "One of several", "%s has instances, because of its %s: write %s.", short,
			repetitionWord(&c.Block), example(short, &c.Block))
	case len(steps) > 0 && child.Outputs[refs.ObjectKey(steps[0])] == nil:
		out := refs.ObjectKey(steps[0])
		hint := words.DidYouMean(out, slices.Sorted(maps.Keys(child.Outputs)))
		if child.Resources[out] != nil || out == "resource" {
			hint = " Only the outputs of a module are visible: declare one in the module."
		}
		return source.Failure(t.SourceRange(), "Unknown output", "The module %q has no output %q: %s.%s", name, out,
			words.ThereAre(slices.Sorted(maps.Keys(child.Outputs))), hint)
	}
	if !p.Static || p.Late {
		return nil
	}
	for _, out := range decl.OutputsOf(ref, child) {
		if child.Outputs[out].NeedsState {
			return tooLate(t, p, "needs a resource (output "+out+")")
		}
	}
	return nil
}
