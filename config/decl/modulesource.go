package decl

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/constants"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
)

// invalidSource is the summary of errors about the text of a source.
const invalidSource = "Invalid module source"

// moduleSource returns the directory in a module block's source. It fetches a module that is elsewhere.
func (t *Tree) moduleSource(b *Module, c *Call) (string, *hcl.Diagnostic) {
	a := c.Attrs["source"]
	if a == nil {
		return "", source.Failure(c.At, "A module without source", "A module block needs a source: source = \"./DIRECTORY\".")
	}
	path, problem := t.sourceText(b, a)
	if problem != nil {
		return "", problem
	}
	at := a.Expr.Range()
	if modsource.Is(path) {
		return t.fetch(b, c, path)
	}
	if why := modsource.DirectoryFault(path); why != "" {
		return "", source.Failure(at, invalidSource, "%s", why)
	}
	if c.Verify != nil {
		return "", source.Failure(c.At, "Nothing to verify", "A verify block is for a module in an image, whose source begins with "+
			"oci://. "+
			"%q is a directory: remove the block.", path)
	}
	from := b.Dir
	if b.Parent == nil { // its files may be in several directories
		if from = filepath.Dir(a.Range.Filename); !filepath.IsAbs(from) {
			from = filepath.Join(t.Set.Src.Workspace, from)
		}
	}
	dir := filepath.Join(from, path)
	if t.Set.LeavesPackage(from, dir) {
		return "", source.Failure(at, invalidSource, "%q leads outside of the module that was fetched, whose files are all that it can "+
			"use. "+
			"This is a fault of the module: report it to its author.", path)
	}
	return dir, nil
}

// sourceText returns the text of a source: in the root manifest it may have constants in it.
func (t *Tree) sourceText(b *Module, a *hcl.Attribute) (string, *hcl.Diagnostic) {
	if text, ok := refs.ConstantText(a.Expr); ok {
		return text, nil
	}
	known := constants.Known{Values: t.consts, Variables: map[string]hcl.Range{}, InModule: b.Parent != nil, Functions: b.Functions}
	for name, v := range t.Root.Variables {
		known.Variables[name] = v.At
	}
	return known.Text(a.Expr)
}

// fetch returns the directory of a module that a registry or a repository has.
func (t *Tree) fetch(b *Module, c *Call, text string) (string, *hcl.Diagnostic) {
	at := c.Attrs["source"].Expr.Range()
	address, err := modsource.Parse(text)
	if err != nil {
		return "", source.Failure(at, invalidSource, "%s.", err)
	}
	var verify *runner.Verify
	if c.Verify != nil && !t.Set.Src.Replay { // the plan has what was verified
		if address.Image == "" {
			return "", source.Failure(c.At, "Nothing to verify", "A verify block is for a module in an image, whose source begins with "+
				"oci://. "+
				"A repository of git has no signatures of cosign; the lock file pins its commit.")
		}
		var problem *hcl.Diagnostic
		if verify, problem = t.Set.ModuleVerify(c.Verify, c.At, b.Dir); problem != nil {
			return "", problem
		}
	}
	dir, err := t.Set.Fetch(address, verify)
	if err != nil {
		d := diag.From("Cannot use the module "+address.Package(), err)[0]
		return "", source.Failure(at, d.Summary, "%s", d.Detail)
	}
	return dir, nil
}
