package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/layout"
	"deployster/internal/migrate/tfrefs"
)

// reference parses an element of depends_on, ignore_changes or the like: a reference, which may
// be in quotes; text is how it is written without them.
func (e *emitter) reference(x hcl.Expression) (t hcl.Traversal, text string, ok bool) {
	if wrapped, is := x.(*hclsyntax.TemplateWrapExpr); is {
		x = wrapped.Wrapped
	}
	r := x.Range()
	text = string(e.file.text[r.Start.Byte:r.End.Byte])
	if inside := tfrefs.Quoted(x); inside != "" {
		text = inside
		t, diags := hclsyntax.ParseTraversalAbs([]byte(text), r.Filename, r.Start)
		return t, text, !diags.HasErrors()
	}
	t, diags := hcl.AbsTraversalForExpr(x)
	if diags.HasErrors() {
		return nil, text, false
	}
	return t, text, true
}

// edgesOf returns what a block waits for that depends on a reference: the resources and modules that it names,
// or from which its value is computed. vars are the variables of this module among them, whose values
// the callers know.
func (d *module) edgesOf(t hcl.Traversal) (edges []string, vars map[string]bool) {
	s := &edgeSearch{module: d, seen: map[string]bool{}, vars: map[string]bool{}}
	s.add(t)
	return s.edges, s.vars
}

// edgeSearch collects edges.
type edgeSearch struct {
	module *module
	seen   map[string]bool // local values
	vars   map[string]bool
	edges  []string
}

func (s *edgeSearch) add(t hcl.Traversal) {
	second := ""
	if len(t) > 1 {
		second = tfrefs.Step(t[1])
	}
	edge := ""
	switch root := t.RootName(); root {
	case "var":
		s.vars[second] = true
	case "local":
		if x := s.module.locals[second]; x != nil && !s.seen[second] {
			s.seen[second] = true
			s.expression(x)
		}
	case "module":
		if s.module.calls[second] != nil {
			edge = "module." + s.module.called("module", second) + tfrefs.Instance(t, 2)
		}
	default:
		if k, used, ok := tfrefs.Resource(t); ok && s.module.resources[k] != nil {
			edge = "resource." + s.module.names[k] + tfrefs.Instance(t, used)
		}
	}
	if edge != "" && !slices.Contains(s.edges, edge) {
		s.edges = append(s.edges, edge)
	}
}

func (s *edgeSearch) expression(x hclsyntax.Expression) {
	for _, t := range x.Variables() {
		s.add(t)
	}
}

// findWaits finds the variables of modules that some depends_on in them refers to: the modules
// wait for that of which their callers compute these.
func (m *migration) findWaits() {
	for again := true; again; {
		again = false
		for _, d := range m.modules {
			found := d.dependsOnVariables()
			for name := range found {
				again = again || !d.waits[name]
				d.waits[name] = true
			}
		}
	}
}

// dependsOnVariables returns the variables that a depends_on of the module refers to, and those of
// which it computes such variables of modules that it calls.
func (d *module) dependsOnVariables() map[string]bool {
	s := &edgeSearch{module: d, seen: map[string]bool{}, vars: map[string]bool{}}
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			e := &emitter{findings: d.findings, module: d, file: f}
			if a := b.Body.Attributes["depends_on"]; a != nil {
				list, _ := hcl.ExprList(a.Expr) // dependsOn reports the error
				for _, x := range list {
					if t, _, ok := e.reference(x); ok {
						s.add(t)
					}
				}
			}
		}
	}
	for _, c := range d.calls {
		if c.module != nil {
			for name := range c.module.waits {
				if a := c.block.Body.Attributes[name]; a != nil {
					s.expression(a.Expr)
				}
			}
		}
	}
	return s.vars
}

// waitsOf returns what a module waits for because of the values that its variables get.
func (e *emitter) waitsOf(c *call) []string {
	s := &edgeSearch{module: e.module, seen: map[string]bool{}, vars: map[string]bool{}}
	all, _ := layout.Items(e.file.text, c.block.Body)
	for _, it := range all {
		if it.Attr == nil || !c.module.waits[it.Name] {
			continue
		}
		before := len(s.edges)
		if s.expression(it.Attr.Expr); len(s.edges) > before {
			e.note(it.At(), "the whole module waits for %s, because something in it depends on its variable %q",
				strings.Join(s.edges[before:], " and "), it.Name)
		}
	}
	return s.edges
}

// dependsOn returns a depends_on, with further edges.
func (e *emitter) dependsOn(it layout.Item, more ...string) string {
	list, diags := hcl.ExprList(it.Attr.Expr)
	if diags.HasErrors() {
		e.refuse(it.At(), "Unsupported list", "depends_on is a list of references.")
		return ""
	}
	plain := len(more) == 0
	edges := slices.Clone(more)
	for _, x := range list {
		t, text, ok := e.reference(x)
		if !ok {
			e.refuse(x.Range(), "Unsupported dependency", "%s is not a reference to a resource or a module.", text)
			continue
		}
		found, vars := e.module.edgesOf(t)
		switch root := t.RootName(); {
		case root == "var" || root == "local":
			e.noteEdges(x.Range(), text, found, vars)
		case len(found) == 0 && slices.Contains([]string{"path", "terraform", "each", "count", "self"}, root):
			e.note(x.Range(), "depends_on has %s, which is not made of any resource: it is left out", text)
		case len(found) == 0:
			e.refuse(x.Range(), "Undeclared dependency", "depends_on has %s, which is not declared.", text)
		}
		_, isTraversal := x.(*hclsyntax.ScopeTraversalExpr)
		plain = plain && isTraversal && len(found) == 1 && tfrefs.IsWhole(t)
		for _, edge := range found {
			if !slices.Contains(edges, edge) {
				edges = append(edges, edge)
			}
		}
	}
	switch {
	case plain: // with its comments and lines
		bare := *e
		bare.bare = true
		return fmt.Sprintf("%sdepends_on = %s%s\n", it.Lead, bare.expr(it.Attr.Expr), it.Trail)
	case len(edges) == 0:
		return it.Lead
	}
	return fmt.Sprintf("%sdepends_on = [%s]%s\n", it.Lead, strings.Join(edges, ", "), it.Trail)
}

// noteEdges reports what became of a dependency on a value.
func (e *emitter) noteEdges(at hcl.Range, text string, edges []string, vars map[string]bool) {
	switch {
	case len(edges) > 0 && len(vars) > 0 && e.module.out != ".":
		e.note(at, "depends_on has %s: it waits for %s, of which the value is made, and the whole module for what its callers pass",
			text, strings.Join(edges, " and "))
	case len(edges) > 0:
		e.note(at, "depends_on has %s: it waits for %s, of which the value is made", text, strings.Join(edges, " and "))
	case len(vars) > 0 && e.module.out != ".":
		e.note(at, "depends_on has %s: the whole module waits for that of which its callers make the value", text)
	default:
		e.note(at, "depends_on has %s, which is not made of any resource: it is left out", text)
	}
}
