package deb822

import "strings"

// Stanzas returns the stanzas of a deb822 file as fields. A value of several lines has them as they were
// intended: without the blank at their begin, and an empty line for a dot.
func Stanzas(text string) (all []map[string]string) {
	fields, name := map[string]string{}, ""
	end := func() {
		if len(fields) > 0 {
			all = append(all, fields)
		}
		fields, name = map[string]string{}, ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			end()
		case (line[0] == ' ' || line[0] == '\t') && name != "":
			if line = strings.TrimSpace(line); line == "." {
				line = ""
			}
			fields[name] += "\n" + line
		default:
			var value string
			name, value, _ = strings.Cut(line, ":")
			fields[name] = strings.TrimSpace(value)
		}
	}
	end()
	for _, fields := range all {
		for name, value := range fields {
			fields[name] = strings.TrimPrefix(value, "\n")
		}
	}
	return all
}

// First returns the first stanza, which may have no fields.
func First(text string) map[string]string {
	if all := Stanzas(text); len(all) > 0 {
		return all[0]
	}
	return map[string]string{}
}

// Lines returns the lines of a value as a file has them below the name of the field: with a blank at their begin, and a
// dot for an empty line.
func Lines(value string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(value, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			line = "."
		}
		b.WriteString(" " + line + "\n")
	}
	return b.String()
}
