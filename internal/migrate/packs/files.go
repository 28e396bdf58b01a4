package packs

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/tfrefs"
)

// Module is the module whose blocks a provider gets.
type Module struct {
	Dir    string
	Locals map[string]hclsyntax.Expression
	Note   func(at hcl.Range, format string, args ...any) // reports what a person has to check
}

// AddNeeds adds the files and programs that a provider needs for a block.
func (m Module) AddNeeds(p *Provider, b *hclsyntax.Block) {
	m.filesOf(p, b)
	if p.is("external") && b.Labels[0] == "external" {
		m.programOf(p, b)
	}
}

// filesOf finds the paths that a provider gets in a block.
func (m Module) filesOf(p *Provider, b *hclsyntax.Block) {
	switch {
	case p.is("local"), p.is("archive"):
		p.files = writesFiles
	case p.is("external"), m.namesFile(b.Body, map[string]bool{}):
		p.files = max(p.files, readsFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
		if m.leavesProject(p, b.Body.Attributes[name].Expr) {
			m.Note(b.Body.Attributes[name].SrcRange, "%s may be a path outside of the project, which the image of %s does not have: "+
				"pack it with -plug NAME=PATH, and declare that plug", name, p.Name)
		}
	}
}

// namesFile reports whether a path of the project is in a block, other than as what a function reads.
func (m Module) namesFile(n hclsyntax.Node, seen map[string]bool) bool {
	w := &pathWalk{module: m, seen: seen}
	_ = hclsyntax.Walk(n, w) // the walk returns no diagnostics
	return w.found
}

// pathWalk searches for path.module and path.root.
type pathWalk struct {
	module Module
	seen   map[string]bool // local values
	read   int             // how many calls of functions that read files are around
	found  bool
}

// Enter implements hclsyntax.Walker.
func (w *pathWalk) Enter(n hclsyntax.Node) hcl.Diagnostics {
	switch x := n.(type) {
	case *hclsyntax.FunctionCallExpr:
		if readsFile(x.Name) {
			w.read++
		}
	case *hclsyntax.ScopeTraversalExpr:
		if t := x.Traversal; w.read == 0 && len(t) > 1 {
			second := tfrefs.Step(t[1])
			w.found = w.found || t.RootName() == "path"
			if local := w.module.Locals[second]; t.RootName() == "local" && local != nil && !w.seen[second] {
				w.seen[second] = true
				w.found = w.module.namesFile(local, w.seen) || w.found
			}
		}
	}
	return nil
}

// Exit implements hclsyntax.Walker.
func (w *pathWalk) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if x, ok := n.(*hclsyntax.FunctionCallExpr); ok && readsFile(x.Name) {
		w.read--
	}
	return nil
}

// readsFile reports whether a function reads a file, so that the provider does not get its path.
func readsFile(function string) bool {
	return strings.HasPrefix(function, "file") || function == "templatefile"
}

// leavesProject reports whether an argument is a path in the home directory, or for a provider of files an absolute one.
func (m Module) leavesProject(p *Provider, x hclsyntax.Expression) (found bool) {
	ofFiles := p.is("local") || p.is("archive") || p.is("external")
	absolute := []string{"abspath", "pathexpand"}
	_ = hclsyntax.VisitAll(x, func(n hclsyntax.Node) hcl.Diagnostics { // the function returns no diagnostics
		switch x := n.(type) {
		case *hclsyntax.LiteralValueExpr:
			if x.Val.Type().FriendlyName() == "string" && !x.Val.IsNull() {
				found = found || strings.HasPrefix(x.Val.AsString(), "~/")
			}
		case *hclsyntax.TemplateExpr:
			if text, ok := firstText(x); ok && ofFiles {
				found = found || strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n")
			}
		case *hclsyntax.FunctionCallExpr:
			found = found || ofFiles && slices.Contains(absolute, x.Name)
		case *hclsyntax.ScopeTraversalExpr:
			found = found || ofFiles && x.Traversal.RootName() == "path" && len(x.Traversal) > 1 && tfrefs.Step(x.Traversal[1]) == "cwd"
		}
		return nil
	})
	return found
}

// firstText returns the literal text that a template begins with.
func firstText(x hclsyntax.Expression) (string, bool) {
	t, ok := x.(*hclsyntax.TemplateExpr)
	if !ok || len(t.Parts) == 0 {
		return "", false
	}
	part, ok := t.Parts[0].(*hclsyntax.LiteralValueExpr)
	if !ok || part.Val.IsNull() || part.Val.Type().FriendlyName() != "string" {
		return "", false
	}
	return part.Val.AsString(), true
}
