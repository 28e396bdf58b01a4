package source

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
)

// parseNative gives the tree of a file that limits.Native lets pass, with its work
// metered, and what is wrong with it, in hcl's words.
func parseNative(src []byte, filename string) (*hclsyntax.Body, hcl.Diagnostics) {
	if body, ok := parseBlocks(src, filename); ok {
		return body, nil
	}
	file, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	body := file.Body.(*hclsyntax.Body)
	limits.Metered(body)
	return body, diags
}

var (
	blockEnd      = []byte("\n}\n")
	byteOrderMark = []byte("\ufeff")
)

// parseBlocks has hcl parse one block at a time, up to where each seems to end: its
// scanner makes a list of all tokens, which for a whole file is larger than what
// comes out. What is parsed without a doubt is what it would be among the rest: it
// stands on lines of its own, and whatever begins in it ends in it. If anything is
// wrong with a block, the file is to be parsed as a whole.
func parseBlocks(src []byte, filename string) (*hclsyntax.Body, bool) {
	whole := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, Blocks: hclsyntax.Blocks{}}
	at := hcl.InitialPos
	for at.Byte < len(src) {
		part := src[at.Byte:]
		if i := bytes.Index(part, blockEnd); i >= 0 {
			part = part[:i+len(blockEnd)]
		}
		if at.Byte > 0 && bytes.HasPrefix(part, byteOrderMark) {
			return nil, false // which hcl allows where a file begins
		}
		file, diags := hclsyntax.ParseConfig(part, filename, at)
		if len(diags) > 0 {
			return nil, false
		}
		body := file.Body.(*hclsyntax.Body)
		limits.Metered(body)
		for name, a := range body.Attributes {
			if whole.Attributes[name] != nil {
				return nil, false
			}
			whole.Attributes[name] = a
		}
		whole.Blocks = append(whole.Blocks, body.Blocks...)
		if at.Byte == 0 {
			whole.SrcRange = body.SrcRange
		}
		at = body.EndRange.End
	}
	whole.SrcRange.End = at
	whole.EndRange = hcl.Range{Filename: filename, Start: at, End: at}
	return whole, at.Byte > 0
}
