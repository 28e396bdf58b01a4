package values

import "strings"

// InLine writes a value that stands on several lines on one, with commas between.
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
