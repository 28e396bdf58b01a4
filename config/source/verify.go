package source

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/internal/base/cosign"
	"deployster/internal/runtime/runner"
)

// VerifyKey sets a public key, from the text or from a file, which it reads as file()
// does, so that a saved plan includes it.
func VerifyKey(files *Reader, text string, into *runner.Verify) error {
	into.KeyName = "the key in the manifest"
	into.Keys = []byte(text)
	if !strings.Contains(text, "-----BEGIN") {
		content, err := files.Read(text)
		if err != nil {
			return err
		}
		into.KeyName, into.Keys = text, content
	}
	_, err := cosign.ParseKeys(into.Keys)
	return err
}

// ModuleVerify reads the verify block of a module block that is at a place, in a module with a directory.
func (s *Set) ModuleVerify(attrs hcl.Attributes, at hcl.Range, dir string) (*runner.Verify, *hcl.Diagnostic) {
	verify := &runner.Verify{Module: true}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		expr := attrs[name].Expr
		text, ok := refs.ConstantText(expr)
		if !ok {
			return nil, Failure(expr.Range(), "Not a constant", "The %s of a verify block in a module block must be a text constant in "+
				"quotes, because it is read before anything is evaluated.", name)
		}
		var err error
		if name == "key" {
			err = VerifyKey(s.Reads.Inside(dir), text, verify)
		} else {
			verify.Repository, err = cosign.Repository(text)
		}
		if err != nil {
			return nil, Failure(expr.Range(), "Not valid in a verify block", "%s.", strings.TrimSuffix(err.Error(), "."))
		}
	}
	if verify.Keys == nil {
		return nil, Failure(at, "Nothing to verify with", "A verify block needs the public key whose signature the module must have: "+
			"key = \"cosign.pub\".")
	}
	return verify, nil
}
