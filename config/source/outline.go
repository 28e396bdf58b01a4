package source

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// outline is what stays of a file in native syntax once its blocks are read: in
// which of them a place lies, for messages. The tree of the parser is as large as
// all that is made of it. It is an hcl.File's Nav.
type outline []heading

// heading is one block of a file.
type heading struct {
	from, to int // in bytes
	kind     string
	labels   []string
}

// outlined gives a file without the parser's tree, whose body is somebody else's
// now.
func outlined(file *hcl.File) *hcl.File {
	body, native := file.Body.(*hclsyntax.Body)
	if !native {
		return file
	}
	list := make(outline, len(body.Blocks))
	for i, b := range body.Blocks {
		r := b.Range()
		list[i] = heading{from: r.Start.Byte, to: r.End.Byte, kind: b.Type, labels: b.Labels}
	}
	return &hcl.File{Bytes: file.Bytes, Nav: list}
}

// ContextString names the block that a place lies in, as hcl does; "" when it is
// in none.
func (o outline) ContextString(offset int) string {
	for _, h := range o {
		if offset < h.from || offset >= h.to {
			continue
		}
		var b bytes.Buffer
		b.WriteString(h.kind)
		for _, label := range h.labels {
			fmt.Fprintf(&b, " %q", label)
		}
		return b.String()
	}
	return ""
}
