package packs

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/tfrefs"
)

// programOf finds how the image gets the program of data.external.
func (m Module) programOf(p *Provider, b *hclsyntax.Block) {
	a := b.Body.Attributes["program"]
	if a == nil {
		return // the provider reports it
	}
	name := ""
	if list, diags := hcl.ExprList(a.Expr); !diags.HasErrors() && len(list) > 0 {
		if x, ok := list[0].(hclsyntax.Expression); ok {
			name = m.interpreter(x)
		}
	}
	switch base := path.Base(name); {
	case name == "":
	case base == "sh":
		p.add["-shell"] = true
	case strings.HasPrefix(base, "python"):
		p.add["-python"] = true
	case base == name:
		p.add["-program $(command -v "+name+")"] = true
	default:
		p.add["-program "+name] = true
	}
	m.Note(a.SrcRange, "the program runs in the image of %s: pack it with all programs that this one starts, -program PATH for each",
		p.Name)
}

// interpreter returns the program that the first word of a command starts: itself, or what the first line of
// the script names; "" = that is not known.
func (m Module) interpreter(x hclsyntax.Expression) string {
	text, ok := firstText(x)
	if t, is := x.(*hclsyntax.TemplateExpr); is && !ok && len(t.Parts) == 2 { // "${path.module}/x.sh"
		at, isPath := t.Parts[0].(*hclsyntax.ScopeTraversalExpr)
		rest, isText := t.Parts[1].(*hclsyntax.LiteralValueExpr)
		if isPath && isText && at.Traversal.RootName() == "path" && tfrefs.Step(at.Traversal[len(at.Traversal)-1]) == "module" {
			return m.shebang(rest.Val.AsString())
		}
	}
	if strings.HasPrefix(text, ".") {
		return m.shebang(text)
	}
	return text
}

// shebang returns the interpreter of a script, "" if it has none.
func (m Module) shebang(name string) string {
	text, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(name)))
	line, isScript := strings.CutPrefix(string(text), "#!")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	switch {
	case err != nil || !isScript || len(words) == 0:
		return ""
	case path.Base(words[0]) == "env" && len(words) > 1:
		return words[1]
	}
	return words[0]
}
