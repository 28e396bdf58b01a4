package source

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
)

// parseNative parses a file that is within the limits, its work metered, and returns
// what is wrong with it in hcl's words.
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

// parseBlocks has hcl parse one block at a time, up to where each seems to end: its
// scanner makes a list of all tokens, which for a whole file is larger than what
// comes out. What is parsed without a doubt is what it would be among the rest: it
// stands on lines of its own, and whatever begins in it ends in it. If anything is
// wrong with a block, it returns nil: the file is to be parsed as a whole.
func parseBlocks(src []byte, filename string) (file *hcl.File) {
	var whole *hclsyntax.Body
	for at := hcl.InitialPos; at.Byte < len(src) || file == nil; {
		part := src[at.Byte:]
		if i := bytes.Index(part, blockEnd); i >= 0 {
			part = part[:i+len(blockEnd)]
		}
		if at.Byte > 0 && bytes.HasPrefix(part, byteOrderMark) {
			return nil // which hcl allows where a file begins
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
