package jsondoc

import (
	"fmt"
	"strings"
)

// Dotted turns a JSON pointer into the way people write it: .a.b[0].
func Dotted(pointer string) string {
	var b strings.Builder
	for _, step := range Pointer(pointer) {
		if step != "" && strings.Trim(step, "0123456789") == "" {
			fmt.Fprintf(&b, "[%s]", step)
		} else {
			b.WriteString("." + step)
		}
	}
	return b.String()
}
