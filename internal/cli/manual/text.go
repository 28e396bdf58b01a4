package manual

import "strings"

// columns is the width of a page of help.
const columns = 100

// helpFlag is the flag that every command has.
var helpFlag = Flag{Names: []string{"help", "h"}, Usage: "print this help"}

// Text returns the page as the flag -help prints it.
func (p Page) Text() string {
	var b strings.Builder
	b.WriteString("NAME:\n   " + p.Name() + " - " + p.Summary + "\n\nUSAGE:\n   " + p.Usage() + "\n")
	if p.Description != "" {
		b.WriteString("\nDESCRIPTION:\n")
		for _, line := range paragraphs(p.Description) {
			b.WriteString(indented(line, 3))
		}
	}
	if len(p.Commands) > 0 {
		b.WriteString("\nCOMMANDS:\n" + table(p.Commands, func(c Page) (string, string) { return c.Path[len(c.Path)-1], c.Summary }))
	}
	title := "OPTIONS:"
	if len(p.Path) == 0 {
		title = "GLOBAL OPTIONS:"
	}
	b.WriteString("\n" + title + "\n" + table(append(p.Flags[:len(p.Flags):len(p.Flags)], helpFlag),
		func(f Flag) (string, string) { return f.Form(), f.Meaning() }))
	if len(p.Examples) > 0 {
		b.WriteString("\nEXAMPLES:\n   " + strings.Join(p.Examples, "\n   ") + "\n")
	}
	if len(p.Path) > 0 {
		b.WriteString("\n`deployster -help` lists the global flags. Flags may stand anywhere, with one dash or two.\n")
	}
	return b.String()
}

// paragraphs joins the lines of a text, except indented ones.
func paragraphs(text string) (list []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if last := len(list) - 1; last >= 0 && !strings.HasPrefix(line, " ") && !strings.HasPrefix(list[last], " ") {
			list[last] += " " + line
			continue
		}
		list = append(list, line)
	}
	return list
}

// table returns a table of two columns. Text that is too long for the second one continues below it.
func table[T any](rows []T, cells func(T) (string, string)) string {
	width := 0
	for _, r := range rows {
		left, _ := cells(r)
		width = max(width, len(left))
	}
	var b strings.Builder
	for _, r := range rows {
		left, right := cells(r)
		text := indented(right, width+5)
		b.WriteString("   " + left + strings.Repeat(" ", width-len(left)+2) + strings.TrimLeft(text, " "))
	}
	return b.String()
}

// indented wraps a line at words, and indents each part by a number of spaces, plus the
// line's own indentation.
func indented(line string, by int) string {
	own := len(line) - len(strings.TrimLeft(line, " "))
	before := strings.Repeat(" ", by+own)
	var b strings.Builder
	length := 0
	for _, word := range strings.Fields(line) {
		switch {
		case length == 0:
			b.WriteString(before + word)
			length = len(before) + len(word)
		case length+1+len(word) > columns:
			b.WriteString("\n" + before + word)
			length = len(before) + len(word)
		default:
			b.WriteString(" " + word)
			length += 1 + len(word)
		}
	}
	return b.String() + "\n"
}
