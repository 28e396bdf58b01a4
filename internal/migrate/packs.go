package migrate

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// access is what a provider needs of the files of the project.
type access int

const (
	noFiles access = iota
	readsFiles
	writesFiles
)

// filesPlug is the plug by which providers get the directory of the project, at filesDir in the container, where they start:
// so a relative path leads to the same file as in Terraform.
const (
	filesPlug = "files"
	filesDir  = "/work"
)

// writeTypes writes the type blocks of providers without a config and the plug of files, and lists the commands that
// build all images.
func (m *migration) writeTypes() {
	var b strings.Builder
	var withFiles []string
	for _, name := range slices.Sorted(maps.Keys(m.images)) {
		p := m.images[name]
		if m.plain[name] {
			fmt.Fprintf(&b, "type %q {\n  image = %q\n}\n", name, p.image())
		}
		dir := path.Join(".terraform/providers", p.address, p.version, "linux_amd64")
		m.result.Packs = append(m.result.Packs,
			fmt.Sprintf("deployster image pack -terraform-provider %s%s -t %s", dir, p.packFlags(), p.image()))
		if p.files != noFiles {
			withFiles = append(withFiles, strconv.Quote("tf/"+name+":.*"))
		}
	}
	if len(withFiles) > 0 {
		fmt.Fprintf(&b, "plug %q {\n  path = \".\"\n  resource_types = [%s]\n}\n", filesPlug, strings.Join(withFiles, ", "))
	}
	if m.modules[m.dir].inOne {
		fmt.Fprintf(&b, "variable %q {\n  default = %q\n}\n", workspaceName, m.workspace)
	}
	if b.Len() > 0 {
		m.add("types.hcl", b.String())
	}
}

// packFlags returns the flags of image pack for what a provider needs besides its binary.
func (p *provider) packFlags() string {
	var b strings.Builder
	if p.files != noFiles {
		fmt.Fprintf(&b, " -plug %s=%s", filesPlug, filesDir)
		if p.files == writesFiles {
			b.WriteString(":rw")
		}
		b.WriteString(" -workdir " + filesDir)
	}
	for _, flag := range slices.Sorted(maps.Keys(p.add)) {
		b.WriteString(" " + flag)
	}
	return b.String()
}

// findNeeds finds which files and programs the providers of a module's resources need.
func (d *module) findNeeds() {
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			name := ""
			switch {
			case (b.Type == "resource" || b.Type == "data") && len(b.Labels) == 2:
				name = nameIn(keyOf(b))
			case b.Type == "provider" && len(b.Labels) == 1:
				name = b.Labels[0]
			}
			p := d.images[name]
			if p == nil {
				continue
			}
			d.filesOf(p, b)
			if p.is("external") && b.Labels[0] == "external" {
				d.programOf(p, b)
			}
		}
	}
}

// is reports whether it is a provider of HashiCorp with this name.
func (p *provider) is(name string) bool { return strings.HasSuffix(p.address, "/hashicorp/"+name) }

// filesOf finds the paths that a provider gets in a block.
func (d *module) filesOf(p *provider, b *hclsyntax.Block) {
	switch {
	case p.is("local"), p.is("archive"):
		p.files = writesFiles
	case p.is("external"), d.namesFile(b.Body, map[string]bool{}):
		p.files = max(p.files, readsFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
		if d.leavesProject(p, b.Body.Attributes[name].Expr) {
			d.note(b.Body.Attributes[name].SrcRange, "%s may be a path outside of the project, which the image of %s does not have: "+
				"pack it with -plug NAME=PATH, and declare that plug", name, p.name)
		}
	}
}

// namesFile reports whether a path of the project is in a block, other than as what a function reads.
func (d *module) namesFile(n hclsyntax.Node, seen map[string]bool) bool {
	w := &pathWalk{module: d, seen: seen}
	_ = hclsyntax.Walk(n, w) // the walk returns no diagnostics
	return w.found
}

// pathWalk looks for path.module and path.root.
type pathWalk struct {
	*module
	seen  map[string]bool // local values
	read  int             // how many calls of functions that read files are around
	found bool
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
			second := stepName(t[1])
			w.found = w.found || t.RootName() == "path"
			if local := w.locals[second]; t.RootName() == "local" && local != nil && !w.seen[second] {
				w.seen[second] = true
				w.found = w.namesFile(local, w.seen) || w.found
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
func (d *module) leavesProject(p *provider, x hclsyntax.Expression) (found bool) {
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
			found = found || ofFiles && x.Traversal.RootName() == "path" && len(x.Traversal) > 1 && stepName(x.Traversal[1]) == "cwd"
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

// programOf finds how the image gets the program of data.external.
func (d *module) programOf(p *provider, b *hclsyntax.Block) {
	a := b.Body.Attributes["program"]
	if a == nil {
		return // the provider reports it
	}
	name := ""
	if list, diags := hcl.ExprList(a.Expr); !diags.HasErrors() && len(list) > 0 {
		if x, ok := list[0].(hclsyntax.Expression); ok {
			name = d.interpreter(x)
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
	d.note(a.SrcRange, "the program runs in the image of %s: pack it with all that the program starts, -program PATH for each", p.name)
}

// interpreter returns the program that the first word of a command starts: itself, or what the first line of
// the script names; "" = that is not known.
func (d *module) interpreter(x hclsyntax.Expression) string {
	text, ok := firstText(x)
	if t, is := x.(*hclsyntax.TemplateExpr); is && !ok && len(t.Parts) == 2 { // "${path.module}/x.sh"
		at, isPath := t.Parts[0].(*hclsyntax.ScopeTraversalExpr)
		rest, isText := t.Parts[1].(*hclsyntax.LiteralValueExpr)
		if isPath && isText && at.Traversal.RootName() == "path" && stepName(at.Traversal[len(at.Traversal)-1]) == "module" {
			return d.shebang(rest.Val.AsString())
		}
	}
	if strings.HasPrefix(text, ".") {
		return d.shebang(text)
	}
	return text
}

// shebang returns the interpreter of a script, "" if it has none.
func (d *module) shebang(name string) string {
	text, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
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
