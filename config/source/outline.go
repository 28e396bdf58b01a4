package source

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// outline is where the outermost blocks of a file are, for the contexts of diagnostics
// (hcled.ContextString). hcl's own keeps the syntax of the whole file in memory.
type outline []header

// header is the header of a block, and the bytes of the whole block.
type header struct {
	start, end int // end is the first byte after it
	kind       string
	labels     []string
}

// withoutBody returns a file with what diagnostics need, so that its blocks can be
// collected once they are decoded.
func withoutBody(f *hcl.File) *hcl.File {
	body, native := f.Body.(*hclsyntax.Body)
	if !native {
		return &hcl.File{Bytes: f.Bytes, Nav: f.Nav}
	}
	list := make(outline, len(body.Blocks))
	for i, b := range body.Blocks {
		r := b.Range()
		list[i] = header{r.Start.Byte, r.End.Byte, b.Type, b.Labels}
	}
	return &hcl.File{Bytes: f.Bytes, Nav: list}
}

// ContextString returns the header of the block at an offset in the file, "" if there is none.
func (o outline) ContextString(offset int) string {
	for _, h := range o {
		if h.start <= offset && offset < h.end {
			var b strings.Builder
			b.WriteString(h.kind)
			for _, label := range h.labels {
				fmt.Fprintf(&b, " %q", label)
			}
			return b.String()
		}
	}
	return ""
}
