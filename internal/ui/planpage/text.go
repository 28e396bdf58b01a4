package planpage

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
)

// text is what the page shows of a value. Only view.text and view.clipped make
// one of what stands in a plan: no secret gets onto the page without passing them.
type text string

// text returns a text without secrets, and without what is not seen.
func (v *view) text(s string) text { return text(diag.Visible(v.hide(s))) }

// maxText is how many bytes are shown of a sentence of an image, or of an argument.
const maxText = 2000

// clipped returns a text that ends where nobody would read on.
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
