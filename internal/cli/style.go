package cli

import (
	"fmt"
	"strings"
)

// style colours text, where there is a terminal to see it. Until it is printed
// a colour is a character of Unicode's private use area, so that everything
// else in a text can be made safe to show at the one place that prints. An
// image that prints such a character can colour its text, and no more.
type style struct{ on bool }

const (
	markReset  = "\uf8e0"
	markBold   = "\uf8e1"
	markDim    = "\uf8e2"
	markRed    = "\uf8e3"
	markGreen  = "\uf8e4"
	markYellow = "\uf8e5"
	markCyan   = "\uf8e6"
)

func (s style) paint(mark, text string) string {
	if text == "" {
		return text
	}
	return mark + text + markReset
}

func (s style) bold(t string) string   { return s.paint(markBold, t) }
func (s style) dim(t string) string    { return s.paint(markDim, t) }
func (s style) red(t string) string    { return s.paint(markRed, t) }
func (s style) green(t string) string  { return s.paint(markGreen, t) }
func (s style) yellow(t string) string { return s.paint(markYellow, t) }
func (s style) cyan(t string) string   { return s.paint(markCyan, t) }

// render turns the marks into what a terminal understands, or into nothing.
func (s style) render(text string) string {
	pairs := []string{markReset, "0", markBold, "1", markDim, "2", markRed, "31", markGreen, "32", markYellow, "33", markCyan, "36"}
	for i := 1; i < len(pairs); i += 2 {
		if s.on {
			pairs[i] = "\x1b[" + pairs[i] + "m"
		} else {
			pairs[i] = ""
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// count says how many there are: `1 resource`, `3 resources`.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
