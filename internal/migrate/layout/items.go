package layout

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Item is an attribute or a block of a body, with the comments before and after it.
type Item struct {
	Lead, Trail string
	Name        string
	Attr        *hclsyntax.Attribute
	Block       *hclsyntax.Block
}

// At returns its place.
func (i Item) At() hcl.Range {
	if i.Attr != nil {
		return i.Attr.SrcRange
	}
	return hcl.RangeBetween(i.Block.TypeRange, i.Block.CloseBraceRange)
}

// Items returns all attributes and blocks of a body in their order; rest are the comments after the last.
func Items(text []byte, body *hclsyntax.Body) (list []Item, rest string) {
	for name, a := range body.Attributes {
		list = append(list, Item{Name: name, Attr: a})
	}
	for _, b := range body.Blocks {
		list = append(list, Item{Name: b.Type, Block: b})
	}
	slices.SortFunc(list, func(a, b Item) int { return a.At().Start.Byte - b.At().Start.Byte })
	at, end := body.SrcRange.Start.Byte, body.SrcRange.End.Byte
	if at < len(text) && text[at] == '{' { // the range of a block's body includes its braces
		at, end = at+1, end-1
	}
	for i := range list {
		gap := string(text[at:list[i].At().Start.Byte])
		if i > 0 {
			list[i-1].Trail, gap = splitGap(gap)
		}
		list[i].Lead = comments(gap) + mark(list[i].At())
		at = list[i].At().End.Byte
	}
	gap := string(text[at:max(at, end)])
	if len(list) > 0 {
		list[len(list)-1].Trail, gap = splitGap(gap)
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
