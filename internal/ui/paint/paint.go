package paint

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Until it is printed, a colour is a character of Unicode's private use area, so that all
// other text can be made safe at the one place that prints. An image that prints such a
// character can colour its text, but cannot do anything else.
const (
	markReset  = "\uf8e0"
	markBold   = "\uf8e1"
	markDim    = "\uf8e2"
	markRed    = "\uf8e3"
	markGreen  = "\uf8e4"
	markYellow = "\uf8e5"
	markCyan   = "\uf8e6"
)

func paint(mark, text string) string {
	if text == "" {
		return text
	}
	return mark + text + markReset
}

// Bold returns a text in bold.
func Bold(t string) string { return paint(markBold, t) }

// Dim returns a faint text.
func Dim(t string) string { return paint(markDim, t) }

// Red returns a text in the colour of failures and removals.
func Red(t string) string { return paint(markRed, t) }

// Green returns a text in the colour of creations and successes.
func Green(t string) string { return paint(markGreen, t) }

// Yellow returns a text in the colour of changes and warnings.
func Yellow(t string) string { return paint(markYellow, t) }

// Cyan returns a text in the colour of deferred and moved resources.
func Cyan(t string) string { return paint(markCyan, t) }

// Colors converts the marks to escape sequences of a terminal, or removes them. The
// colours are those of the terminal's palette, which its user has chosen to be readable
// on light or dark.
func Colors(text string, on bool) string {
	at := strings.Index(text, markLead)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for ; at >= 0; at = strings.Index(text, markLead) {
		end := at + len(markReset)
		code, mark := "", end <= len(text)
		if mark {
			code, mark = escapeCode(text[at:end])
		}
		switch {
		case !mark: // another character of that area
			end = at + len(markLead)
			b.WriteString(text[:end])
		case on:
			b.WriteString(text[:at] + "\x1b[" + code + "m")
		default:
			b.WriteString(text[:at])
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// markLead is the common first bytes of the marks.
const markLead = "\xef\xa3"

// escapeCode returns the number of a mark in a terminal's escape sequence.
func escapeCode(mark string) (code string, ok bool) {
	switch mark {
	case markReset:
		return "0", true
	case markBold:
		return "1", true
	case markDim:
		return "2", true
	case markRed:
		return "31", true
	case markGreen:
		return "32", true
	case markYellow:
		return "33", true
	case markCyan:
		return "36", true
	}
	return "", false
}

// Width returns how many cells a text takes, without its marks.
func Width(text string) int {
	text = Colors(text, false)
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] > '~' {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// Fit cuts a text without colours to a number of cells.
func Fit(text string, cells int) string {
	if cells <= 0 {
		return ""
	}
	return ansi.Truncate(text, cells, "…")
}

// FitMiddle is Fit for addresses, which differ at their ends: it cuts the middle.
func FitMiddle(text string, cells int) string {
	width := Width(text)
	if width <= cells || cells < 5 {
		return Fit(text, cells)
	}
	tail := (cells - 1) / 2
	return ansi.Truncate(text, cells-1-tail, "") + "…" + ansi.TruncateLeft(text, width-tail, "")
}

// Fill pads a text with spaces to a number of cells.
func Fill(text string, cells int) string {
	return text + strings.Repeat(" ", max(0, cells-Width(text)))
}

// Wrap breaks a line between words to fit a number of cells, and keeps its
// indentation; 0 = any length.
func Wrap(line string, cells int) string {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	if cells < len(indent)+20 || Width(line) <= cells {
		return line
	}
	return indent + strings.ReplaceAll(ansi.Wordwrap(text, cells-len(indent), ""), "\n", "\n"+indent)
}
