package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// What the roots of expressions have below them.
var (
	pathAttrs       = map[string]bool{"cwd": true, "module": true, "root": true}
	deploysterAttrs = map[string]bool{"verbose": true, "version": true, "workspace": true}
	resourceAttrs   = []string{"config", "name", "state", "type"}
)

// place is a kind of place where expressions stand: it decides what they may
// refer to.
type place struct {
	what   string // for messages: "the type of a resource"
	static bool   // evaluated before anything is known of resources
	types  bool   // type.NAME may be used though static
}

// maxErrors is how many errors are reported of one expression.
const maxErrors = 20

// checkRefs finds references to things that do not exist or cannot be used at
// this place.
func (m *Manifest) checkRefs(expr hcl.Expression, p place, owner *resource) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, t := range expr.Variables() {
		if d := m.checkRef(t, p, owner); d != nil {
			diags = append(diags, d)
		}
		if len(diags) == maxErrors {
			break
		}
	}
	return diags
}

func (m *Manifest) checkRef(t hcl.Traversal, p place, owner *resource) *hcl.Diagnostic {
	root, r := t.RootName(), t.SourceRange()
	roots := []string{"var", "local", "path", "deployster"}
	if !p.static {
		roots = append(roots, "type", "plug", "resource")
		if owner != nil {
			roots = append(roots, "dep")
		}
	} else if p.types {
		roots = append(roots, "type")
	}
	if !slices.Contains(roots, root) {
		return m.wrongRoot(t, roots, p)
	}
	name := stepName(t, 1)
	if name == "" {
		return failure(r, "Incomplete reference", "%q alone is not a value: write %s.NAME.", root, root)
	}
	switch root {
	case "var":
		return missing(t, "variable", m.declared.variables, "Declare it with a variable block, or correct the name")
	case "local":
		if d := missing(t, "local value", m.declared.locals, "Declare it in a locals block, or correct the name"); d != nil {
			return d
		}
		if p.static && m.declared.locals[name].dynamic {
			return failure(r, "Known too late", "local.%s needs a resource, and %s must be known before any resource is looked at. Use variables and constants here.", name, p.what)
		}
	case "type":
		return missing(t, "type", m.declared.types, "Declare it with a type block, or correct the name")
	case "plug":
		return missing(t, "plug", m.declared.plugs, "Declare it with a plug block, or correct the name")
	case "path":
		return missing(t, "path", pathAttrs, "Correct the name")
	case "deployster":
		return missing(t, "attribute of deployster", deploysterAttrs, "Correct the name")
	case "resource":
		if d := missing(t, "resource", m.declared.resources, "Declare it with a resource block, or correct the name"); d != nil {
			return d
		}
		return resourceAttr(t)
	case "dep":
		if d := missing(t, "dependency with the alias", owner.aliases, "Add it to the dependencies of this resource, or correct the name"); d != nil {
			return d
		}
		return resourceAttr(t)
	}
	return nil
}

func (m *Manifest) wrongRoot(t hcl.Traversal, roots []string, p place) *hcl.Diagnostic {
	root, r := t.RootName(), t.SourceRange()
	switch {
	case root == "resource" || root == "dep" && p.static:
		return failure(r, "Known too late", "%s cannot be used here: %s must be known before any resource is looked at. Use variables, local values and constants.", traversalString(t), p.what)
	case root == "dep":
		return failure(r, "No dependencies here", "dep.ALIAS exists in the config of a resource only. In %s, write resource.NAME.", p.what)
	case root == "type" || root == "plug":
		return failure(r, "Invalid reference", "%s cannot be used here. %s may use %s.", traversalString(t), capital(p.what), strings.Join(roots, ", "))
	case m.declared.resources[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean resource.%s?", root, traversalString(t))
	case m.declared.variables[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean var.%s?", root, traversalString(t))
	case m.declared.locals[root] != nil:
		return failure(r, "Unknown name", "There is nothing called %q here. Did you mean local.%s?", root, traversalString(t))
	}
	hint := suggest(root, slices.Clone(roots))
	if hint == "" {
		hint = " Text must stand in quotes."
	}
	slices.Sort(roots)
	return failure(r, "Unknown name", "There is nothing called %q here: references begin with one of %s.%s", root, strings.Join(roots, ", "), hint)
}

// missing says that the second step of a traversal names nothing.
func missing[V any](t hcl.Traversal, kind string, declared map[string]V, advice string) *hcl.Diagnostic {
	name := stepName(t, 1)
	if _, ok := declared[name]; ok {
		return nil
	}
	names := sortedKeys(declared)
	return failure(t.SourceRange(), "Unknown name", "There is no %s %q: %s.%s %s.", kind, name, oneOf(slices.Clone(names)), suggest(name, slices.Clone(names)), advice)
}

// resourceAttr checks the third step: resource.NAME.HERE.
func resourceAttr(t hcl.Traversal) *hcl.Diagnostic {
	attr := stepName(t, 2)
	if len(t) < 3 || slices.Contains(resourceAttrs, attr) {
		return nil
	}
	hint := suggest(attr, slices.Clone(resourceAttrs))
	if hint == "" && attr != "" {
		hint = fmt.Sprintf(" Did you mean %s.state.%s?", traversalString(t[:2]), attr)
	}
	return failure(t.SourceRange(), "Unknown attribute", "A resource has the attributes config, name, state and type, and not %q.%s", attr, hint)
}

// stepName is the name that step i of a traversal selects, "" if there is none.
func stepName(t hcl.Traversal, i int) string {
	if i >= len(t) {
		return ""
	}
	switch s := t[i].(type) {
	case hcl.TraverseAttr:
		return s.Name
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
			return s.Key.AsString()
		}
	}
	return ""
}

// traversalString writes a traversal as in a manifest.
func traversalString(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			switch {
			case s.Key.Type() == cty.Number:
				b.WriteString("[" + shortNumber(s.Key) + "]")
			case s.Key.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", s.Key.AsString())
			}
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}

// capital makes the first letter of a sentence a capital.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// unparen takes the parentheses off an expression.
func unparen(expr hcl.Expression) hcl.Expression {
	for {
		p, ok := expr.(*hclsyntax.ParenthesesExpr)
		if !ok {
			return expr
		}
		expr = p.Expression
	}
}

// asTraversal reads an expression that is nothing but a reference. In JSON
// syntax that is a string with exactly one interpolation, or a bare reference
// where nothing else can be meant.
func (m *Manifest) asTraversal(expr hcl.Expression, bare bool) hcl.Traversal {
	expr = unparen(expr)
	if w, ok := expr.(*hclsyntax.TemplateWrapExpr); ok { // "${resource.x}"
		expr = w.Wrapped
	}
	if !isJSON(expr) {
		t, diags := hcl.AbsTraversalForExpr(expr)
		if diags.HasErrors() {
			return nil
		}
		return t
	}
	text, ok := m.jsonString(expr)
	if inner, found := strings.CutPrefix(text, "${"); ok && found && strings.HasSuffix(inner, "}") {
		start := expr.Range().Start
		start.Byte, start.Column = start.Byte+3, start.Column+3
		t, diags := hclsyntax.ParseTraversalAbs([]byte(strings.TrimSuffix(inner, "}")), expr.Range().Filename, start)
		if diags.HasErrors() {
			return nil
		}
		return t
	}
	if t, diags := hcl.AbsTraversalForExpr(expr); bare && !diags.HasErrors() {
		return t
	}
	return nil
}
