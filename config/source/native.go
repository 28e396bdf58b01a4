package source

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
)

// parseNative parses a file within the limits, sets up the metering of its
// expressions, and returns its errors in hcl's words.
func parseNative(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if len(src) <= limits.Tokens || limits.Native(src, filename, false, hcl.InitialPos) == nil { // a token is a byte or more
		if file := parseBlocks(src, filename); file != nil {
			return file, nil
		}
	}
	if d := limits.Native(src, filename, false, hcl.InitialPos); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	file, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	diags = atUnclosed(src, filename, diags)
	limits.Metered(file.Body.(*hclsyntax.Body))
	return file, diags
}

var (
	blockEnd      = []byte("\n}\n")
	byteOrderMark = []byte("\ufeff")
)

// parseBlocks parses a file block by block, each up to its likely end: hcl's scanner
// makes a list of all tokens, which for a whole file is larger than the result. A block
// that parses without diagnostics has the same result as within the whole file: it has
// its own lines, and everything that begins in it ends in it. If a block has any
// problem, parseBlocks returns nil: the caller must parse the file as a whole.
func parseBlocks(src []byte, filename string) (file *hcl.File) {
	var whole *hclsyntax.Body
	for at := hcl.InitialPos; at.Byte < len(src) || file == nil; {
		part := src[at.Byte:]
		if i := bytes.Index(part, blockEnd); i >= 0 {
			part = part[:i+len(blockEnd)]
		}
		if at.Byte > 0 && bytes.HasPrefix(part, byteOrderMark) {
			return nil // hcl allows it only at the beginning of a file
		}
		if limits.Native(part, filename, false, at) != nil {
			return nil
		}
		parsed, diags := hclsyntax.ParseConfig(part, filename, at)
		if len(diags) > 0 {
			return nil
		}
		body := parsed.Body.(*hclsyntax.Body)
		limits.Metered(body)
		at = body.EndRange.End
		if file == nil {
			file, whole = parsed, body
			continue
		}
		for name, a := range body.Attributes {
			if whole.Attributes[name] != nil {
				return nil
			}
			whole.Attributes[name] = a
		}
		whole.Blocks = append(whole.Blocks, body.Blocks...)
		whole.SrcRange.End, whole.EndRange = at, body.EndRange
	}
	file.Bytes = src
	return file
}
