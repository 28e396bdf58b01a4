package planpage

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
)

// text is text on the page. Only view.text and view.clipped make one of the texts of a
// plan: so no secret gets onto the page unhidden.
type text string

// text returns a text with secrets hidden, and invisible characters escaped.
func (v *view) text(s string) text { return text(diag.Visible(v.hide(s))) }

// maxText is the maximum length, in bytes, of a sentence of an image, or of an argument.
const maxText = 2000

// clipped is view.text, but cuts a long text at maxText.
func (v *view) clipped(s string) text {
	if s = v.hide(s); len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + fmt.Sprintf("... (%d bytes in all)", len(s))
	}
	return text(diag.Visible(s))
}

func (v *view) clippedAll(list []string) []text {
	out := make([]text, len(list))
	for i, s := range list {
		out[i] = v.clipped(s)
	}
	return out
}
