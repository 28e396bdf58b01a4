package source

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"deployster/config/limits"
	"deployster/internal/base/diag"
)

// ReadSource reads a manifest or variable file as Find does: a regular file of a
// limited size. Its error does not include the path.
func ReadSource(path string) ([]byte, error) { return readRegular(path) }

// Format returns the canonical form of a manifest or variable file in native syntax:
// it changes the indentation and the spaces around operators. Everything else is
// unchanged, and formatting again changes nothing. A file that cannot be parsed has no
// canonical form: then Format returns errors, which use the given name.
func Format(name string, src []byte) ([]byte, diag.Diagnostics) {
	s := NewText(name, src)
	var out []byte
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { out, list = s.format(name, src) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	if list.HasErrors() {
		return nil, s.Convert(list, nil)
	}
	return out, nil
}

// maxFormatRounds is the maximum number of times that a text is formatted until
// nothing changes any more. Two are enough for all known texts.
const maxFormatRounds = 5

func (s *Set) format(name string, src []byte) ([]byte, hcl.Diagnostics) {
	if len(src) > MaxFileSize {
		return nil, hcl.Diagnostics{limits.Exceeded(fileStart(name), "bytes in one file", MaxFileSize)}
	}
	if d := limits.Native(src, name, false, hcl.InitialPos); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	diags = atUnclosed(src, name, diags)
	if s.files[name] = file; diags.HasErrors() {
		return nil, FirstOfEach(diags)
	}
	out := src
	for range maxFormatRounds {
		next := hclwrite.Format(out)
		if bytes.Equal(next, out) {
			break
		}
		out = next
	}
	if !slices.EqualFunc(tokensOf(src), tokensOf(out), sameToken) {
		return nil, hcl.Diagnostics{Failure(fileStart(name), "Cannot be formatted",
			"Formatting this file would change more than its spaces. This is a bug in deployster: please report it with the file. The "+
				"file was not changed.")}
	}
	return out, nil
}

// tokensOf returns the tokens of a text. Formatting may only change their places.
func tokensOf(src []byte) hclsyntax.Tokens {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos) // parsed before: it has no errors
	return tokens
}

// sameToken reports whether two tokens are equal. A newline may have lost a carriage
// return, and a comment its trailing spaces.
func sameToken(a, b hclsyntax.Token) bool {
	return a.Type == b.Type && bytes.Equal(bytes.TrimSpace(a.Bytes), bytes.TrimSpace(b.Bytes))
}
