package compare

import (
	"encoding/json"
	"fmt"
	"strings"

	"deployster/internal/base/diag"
)

// The measures of a side-by-side, in characters: with the indentation of a message
// it fits into 80 columns.
const (
	tableWidth = 76
	labelWidth = 24
	cellLines  = 4 // lines of one value; the rest is left out
	tableRows  = 20
)

// SideBySide returns a table of what was shown and what was found; "" = there are no
// differences. Long values are folded.
func SideBySide(list []Difference) string {
	if len(list) == 0 {
		return ""
	}
	more := len(list) - tableRows
	if more > 0 {
		list = list[:tableRows]
	}
	label := 0
	for _, d := range list {
		label = max(label, len([]rune(d.label())))
	}
	label = min(label, labelWidth)
	cell := (tableWidth - label - 4) / 2
	shown := len("shown")
	for _, d := range list {
		for _, line := range fold(d.Shown, cell) {
			shown = max(shown, len([]rune(line)))
		}
	}
	var b strings.Builder
	row := func(cells ...string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s", label, cells[0], shown, cells[1], cells[2]), " ") + "\n")
	}
	row("", "shown", "found")
	for _, d := range list {
		names, left, right := wrap(d.label(), label), fold(d.Shown, cell), fold(d.Found, cell)
		for i := range max(len(names), len(left), len(right)) {
			row(line(names, i), line(left, i), line(right, i))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

func (d Difference) label() string {
	if d.Path == "" {
		return d.What
	}
	return d.What + " " + oneLine(d.Path)
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// fold returns a value in lines of at most width characters. Each text of a list gets
// a line of its own.
func fold(raw json.RawMessage, width int) []string {
	var words []string
	switch {
	case len(raw) == 0:
		words = []string{"(none)"}
	case json.Unmarshal(raw, &words) != nil:
		var word string
		if json.Unmarshal(raw, &word) != nil || word == "" {
			word = string(raw)
		}
		words = []string{word}
	}
	var lines []string
	for i, word := range words {
		folded := wrap(oneLine(word), width)
		if len(folded) > cellLines {
			folded = append(folded[:cellLines-1], "...")
		}
		if lines = append(lines, folded...); len(lines) >= 2*cellLines && i+1 < len(words) {
			return append(lines, fmt.Sprintf("and %d more", len(words)-i-1))
		}
	}
	return lines
}

func oneLine(s string) string { return strings.ReplaceAll(diag.Visible(s), "\n", `\n`) }

// wrap cuts a text into lines of at most width characters, at spaces where possible.
func wrap(text string, width int) []string {
	runes := []rune(text)
	var lines []string
	for len(runes) > width {
		cut := width
		for i := width; i > width/2; i-- {
			if runes[i] == ' ' {
				cut = i
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(runes[:cut]), " "))
		runes = runes[cut:]
		if runes[0] == ' ' {
			runes = runes[1:]
		}
	}
	return append(lines, string(runes))
}
