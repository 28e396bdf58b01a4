package decl

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/cosign"
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
	path, ok := refs.ConstantText(a.Expr)
	if !ok {
		return "", source.Failure(a.Expr.Range(), "Not a constant",
			"The source of a module must be a text constant in quotes, because it is read before anything is evaluated.")
	}
	at := a.Expr.Range()
	if modsource.Is(path) {
		return t.fetch(b, c, path)
	}
	switch {
	case filepath.IsAbs(path):
		return "", source.Failure(at, invalidSource, "%q is an absolute path, which differs on every machine. Write the path "+
			"from this file: \"./DIRECTORY\" or \"../DIRECTORY\".", path)
	case path == ".", path == "..", strings.HasPrefix(path, "./"), strings.HasPrefix(path, "../"):
	case strings.Contains(path, ":") || strings.Count(path, "/") > 1 || strings.Contains(strings.Split(path, "/")[0], "."):
		return "", source.Failure(at, invalidSource, "%q is not a source that deployster knows. A directory begins with ./ or ../, a "+
			"repository of git with git::, as in \"git::https://HOST/PATH//DIRECTORY?ref=TAG\", and an image with oci://, as in "+
			"\"oci://HOST/NAME:TAG\".", path)
	default:
		return "", source.Failure(at, invalidSource, "A module is a directory, written from this file on with ./ or ../ at the "+
			"beginning. Did you mean %q?", "./"+path)
	}
	if strings.ContainsRune(path, 0) {
		return "", source.Failure(at, invalidSource, "A path has no null byte.")
	}
	if c.Verify != nil {
		return "", source.Failure(c.At, "Nothing to verify", "A verify block is for a module in an image, whose source begins with oci://. "+
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
		return "", source.Failure(at, invalidSource, "%q leads outside of the module that was fetched, whose files are all that it can use. "+
			"This is a fault of the module: report it to its author.", path)
	}
	return dir, nil
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
			return "", source.Failure(c.At, "Nothing to verify", "A verify block is for a module in an image, whose source begins with oci://. "+
				"A repository of git has no signatures of cosign; the lock file pins its commit.")
		}
		var problem *hcl.Diagnostic
		if verify, problem = t.moduleVerify(b, c); problem != nil {
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

// moduleVerify reads the verify block of a module.
func (t *Tree) moduleVerify(b *Module, c *Call) (*runner.Verify, *hcl.Diagnostic) {
	verify := &runner.Verify{}
	for _, name := range slices.Sorted(maps.Keys(c.Verify)) {
		expr := c.Verify[name].Expr
		text, ok := refs.ConstantText(expr)
		if !ok {
			return nil, source.Failure(expr.Range(), "Not a constant", "The %s of a verify block in a module block must be a text constant in "+
				"quotes, because it is read before anything is evaluated.", name)
		}
		var err error
		if name == "key" {
			err = source.VerifyKey(t.Set.Reads.Inside(b.Dir), text, verify)
		} else {
			verify.Repository, err = cosign.Repository(text)
		}
		if err != nil {
			return nil, source.Failure(expr.Range(), "Not valid in a verify block", "%s.", strings.TrimSuffix(err.Error(), "."))
		}
	}
	if verify.Keys == nil {
		return nil, source.Failure(c.At, "Nothing to verify with", "A verify block needs the public key whose signature the module must have: "+
			"key = \"cosign.pub\".")
	}
	return verify, nil
}
