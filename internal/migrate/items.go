package migrate

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// item is an attribute or a block of a body, with the comments before and after it.
type item struct {
	lead, trail string
	name        string
	attr        *hclsyntax.Attribute
	block       *hclsyntax.Block
}

func (i item) at() hcl.Range {
	if i.attr != nil {
		return i.attr.SrcRange
	}
	return hcl.RangeBetween(i.block.TypeRange, i.block.CloseBraceRange)
}

// items returns all attributes and blocks of a body in their order; rest are the comments after the last.
func items(f *file, body *hclsyntax.Body) (list []item, rest string) {
	for name, a := range body.Attributes {
		list = append(list, item{name: name, attr: a})
	}
	for _, b := range body.Blocks {
		list = append(list, item{name: b.Type, block: b})
	}
	slices.SortFunc(list, func(a, b item) int { return a.at().Start.Byte - b.at().Start.Byte })
	at, end := body.SrcRange.Start.Byte, body.SrcRange.End.Byte
	if at < len(f.text) && f.text[at] == '{' { // the range of a block's body includes its braces
		at, end = at+1, end-1
	}
	for i := range list {
		gap := string(f.text[at:list[i].at().Start.Byte])
		if i > 0 {
			list[i-1].trail, gap = splitGap(gap)
		}
		list[i].lead = comments(gap)
		at = list[i].at().End.Byte
	}
	gap := string(f.text[at:max(at, end)])
	if len(list) > 0 {
		list[len(list)-1].trail, gap = splitGap(gap)
	}
	return list, comments(gap)
}

// splitGap separates the text on the same line after an item from the text of the next lines.
func splitGap(gap string) (trail, rest string) {
	trail, rest, _ = strings.Cut(gap, "\n")
	if trail = strings.TrimSpace(trail); trail != "" {
		trail = " " + trail
	}
	return trail, rest
}

// comments returns the lines of a gap, without empty ones.
func comments(gap string) string {
	var b strings.Builder
	for line := range strings.Lines(gap) {
		if line = strings.TrimSpace(line); line != "" && line != "," {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// metaArguments are the arguments and blocks of a resource that Terraform itself reads.
var metaArguments = []string{"count", "for_each", "depends_on", "provider", "lifecycle", "provisioner", "connection"}

// configItems returns the names of the attributes and blocks in a provider's config.
func configItems(body *hclsyntax.Body) (names []string) {
	for name := range body.Attributes {
		if name != "alias" && name != "version" {
			names = append(names, name)
		}
	}
	for _, b := range body.Blocks {
		names = append(names, b.Type)
	}
	return names
}
