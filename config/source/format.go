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

// ReadSource reads a manifest or variable file as Find does: a regular file of
// a limited size. Its error says what is wrong, without the path.
func ReadSource(path string) ([]byte, error) { return readRegular(path) }

// Format gives the canonical form of a manifest or variable file in native
// syntax: indentation, and the spaces around signs. Everything else stays as it
// is, and formatting again changes nothing. A file that cannot be parsed has no
// canonical form: then there are errors, which call it by the given name.
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

// maxFormatRounds is how often a text is formatted at the most until nothing
// changes any more. Two do for all texts that are known.
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
			"Formatting this file would change more than its spaces. This is a bug in deployster: please report it with the file. The file is as "+
				"it was.")}
	}
	return out, nil
}

// tokensOf returns the tokens of a text. Formatting may change nothing but where they
// stand.
func tokensOf(src []byte) hclsyntax.Tokens {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos) // parsed before: there are no errors
	return tokens
}

// sameToken compares two tokens. A newline may have lost a carriage return, and
// a comment the spaces at its end.
func sameToken(a, b hclsyntax.Token) bool {
	return a.Type == b.Type && bytes.Equal(bytes.TrimSpace(a.Bytes), bytes.TrimSpace(b.Bytes))
}
