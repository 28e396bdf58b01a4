package values

import "strings"

// InLine returns text of several lines as one line, with commas between the parts.
func InLine(text string) string {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		closes := line != "" && strings.ContainsRune("}])", rune(line[0]))
		switch {
		case line == "":
			continue
		case last == "":
		case closes || strings.ContainsRune("{[(,", rune(last[len(last)-1])):
			b.WriteByte(' ')
		default:
			b.WriteString(", ")
		}
		b.WriteString(line)
		last = line
	}
	return strings.ReplaceAll(b.String(), ", ]", " ]")
}
