package decl

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
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
	vars := map[string]cty.Value{}
	for _, ref := range a.Expr.Variables() {
		value, problem := t.constantAt(b, ref)
		if problem != nil {
			return "", problem
		}
		vars[refs.StepName(ref, 1)] = value
	}
	value, diags := a.Expr.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(vars)}, Functions: b.Functions})
	if diags.HasErrors() {
		return "", diags[0]
	}
	text, err := convert.Convert(value, cty.String)
	if err != nil || text.IsMarked() || !text.IsKnown() || text.IsNull() {
		return "", source.Failure(a.Expr.Range(), "Not a constant", "The source of a module must be a text that is known before anything "+
			"is evaluated.")
	}
	return text.AsString(), nil
}

// constantAt returns the value of a constant that a source refers to.
func (t *Tree) constantAt(b *Module, ref hcl.Traversal) (cty.Value, *hcl.Diagnostic) {
	name, at := refs.StepName(ref, 1), ref.SourceRange()
	v := t.Root.Variables[name]
	switch {
	case b.Parent != nil:
		return cty.NilVal, source.Failure(at, "Not a constant", "%s cannot be used in the source of a module that is called by a module: it "+
			"must be a text constant in quotes. Only variables of the root manifest can be constants.", refs.TraversalString(ref))
	case ref.RootName() != "var" || name == "":
		return cty.NilVal, source.Failure(at, "Not a constant", "%s cannot be used in the source of a module, which is read before anything "+
			"is evaluated: it must be a text constant in quotes, with nothing in it but variables that have const = true.",
			refs.TraversalString(ref))
	case v == nil:
		return cty.NilVal, source.Failure(at, "Unknown name", "The variable %q is not declared.%s Declare it with const = true, or correct the "+
			"name.", name, words.DidYouMean(name, slices.Sorted(maps.Keys(t.Root.Variables))))
	case !v.Const:
		return cty.NilVal, source.Failure(at, "Not a constant", "The variable %q is not known yet when the source of a module is read. Write "+
			"const = true in its block (%s:%d).", name, v.At.Filename, v.At.Start.Line)
	case !t.consts[name].IsWhollyKnown():
		return cty.NilVal, source.Failure(at, "A module without source", "The variable %q has no valid value: give it with -var '%s=VALUE', or "+
			"write it into vars.auto.hcl.", name, name)
	}
	return t.consts[name], nil
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
