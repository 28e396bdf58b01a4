package text

import (
	"regexp"
	"slices"
	"strings"

	"deployster/protocol"
)

var (
	iniHeader = regexp.MustCompile(`^[ \t]*\[([^\]]*)\][ \t]*([#;].*)?$`)
	// iniLine matches a key: its indentation and name, what separates it from its value, and the value.
	iniLine = regexp.MustCompile(`^([ \t]*[^\s=:#;\[][^=:]*?)([ \t]*[=:][ \t]*)(.*)$`)
)

// section is the lines of a section, without its first one.
type section struct{ from, to int }

// iniSections returns the parts of a file that have the name; a file may have several.
func iniSections(d document, name string) (list []section) {
	current := section{}
	inside := name == ""
	for i, l := range d {
		header := iniHeader.FindStringSubmatch(l.text)
		if header == nil {
			continue
		}
		if current.to = i; inside {
			list = append(list, current)
		}
		inside = name != "" && strings.TrimSpace(header[1]) == name
		current = section{from: i + 1}
	}
	if current.to = len(d); inside {
		list = append(list, current)
	}
	return list
}

// blankOrComment reports whether a line has no key.
func blankOrComment(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text[0] == '#' || text[0] == ';'
}

// keyPattern matches the lines of one key, also one without a separator.
func keyPattern(key, before string) *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*` + before + regexp.QuoteMeta(key) + `[ \t]*([=:].*)?$`)
}

// iniKey returns the number of the line that has the key; -1 = there is none.
func iniKey(c INIConfig, d document) (int, error) {
	matches := keyPattern(c.Key, "")
	at := []int{}
	for _, s := range iniSections(d, c.Section) {
		for i := s.from; i < s.to; i++ {
			if matches.MatchString(d[i].text) && !continues(d, i) {
				at = append(at, i)
			}
		}
	}
	switch {
	case len(at) == 0:
		return -1, nil
	case len(at) > 1:
		return 0, protocol.Errorf(protocol.ConfigError, "/key",
			"the section has the key %s more than once, in lines %s: remove all but one",
			c.Key, numbered(at))
	case continued(d, at[0]):
		return 0, protocol.Errorf(protocol.ConfigError, "/key",
			"the value of %s in line %d goes over several lines, and is not managed: write it in one line first", c.Key, at[0]+1)
	}
	return at[0], nil
}

// continued reports whether the value of a line continues below it.
func continued(d document, i int) bool {
	if strings.HasSuffix(d[i].text, `\`) {
		return true
	}
	for j := i + 1; j < len(d); j++ {
		if !blankOrComment(d[j].text) {
			return continues(d, j)
		}
	}
	return false
}

func indentation(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// continues reports whether a line belongs to the value of a line above it: it is indented more
// than that one, or that one ends with a backslash.
func continues(d document, i int) bool {
	if i == 0 || iniHeader.MatchString(d[i].text) {
		return false
	}
	if above := d[i-1].text; strings.HasSuffix(above, `\`) && !blankOrComment(above) {
		return true
	}
	if blankOrComment(d[i].text) || indentation(d[i].text) == 0 {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		above := d[j].text
		switch {
		case iniHeader.MatchString(above):
			return false // the first key of a section may be indented
		case blankOrComment(above):
			continue
		case indentation(above) < indentation(d[i].text):
			return true
		}
		return continues(d, j)
	}
	return false
}

// iniValue returns the value of a line that has a key.
func iniValue(text string) string {
	if parts := iniLine.FindStringSubmatch(text); parts != nil {
		return strings.TrimSpace(parts[3])
	}
	return ""
}

// withValue returns the line with another value.
func withValue(text, value string) string {
	parts := iniLine.FindStringSubmatch(text)
	switch {
	case parts == nil: // a key without a separator
		return strings.TrimRight(text, " \t") + strings.TrimRight(" = "+value, " ")
	case parts[3] == "" && value != "" && strings.HasPrefix(parts[2], " ") && !strings.HasSuffix(parts[2], " "):
		parts[2] += " " // of "key =", which had no value
	}
	return parts[1] + parts[2] + value
}

// withKey adds the key: after a comment that has it, else at the end of its section, which is made
// if there is none.
func withKey(c INIConfig, d document) document {
	comment := keyPattern(c.Key, `[#;][ \t]*`)
	sections := iniSections(d, c.Section)
	last := -1 // the last key of the sections
	for _, s := range slices.Backward(sections) {
		for i := s.to - 1; i >= s.from; i-- {
			if comment.MatchString(d[i].text) {
				return d.splice(i+1, 0, styled(d, s, c))
			}
			if last < 0 && !blankOrComment(d[i].text) {
				last = i
			}
		}
	}
	switch {
	case last >= 0:
		return d.splice(last+1, 0, styled(d, sections[len(sections)-1], c))
	case len(sections) > 0:
		return d.splice(sections[len(sections)-1].from, 0, styled(d, sections[len(sections)-1], c))
	}
	added := []string{"[" + c.Section + "]", styled(d, section{}, c)}
	if len(d) > 0 && strings.TrimSpace(d[len(d)-1].text) != "" {
		added = append([]string{""}, added...)
	}
	return d.splice(len(d), 0, added...)
}

// styled returns the line of a new key, written as those of its section or else of the file.
func styled(d document, in section, c INIConfig) string {
	for _, part := range []section{in, {0, len(d)}} {
		for i := part.to - 1; i >= part.from; i-- {
			parts := iniLine.FindStringSubmatch(d[i].text)
			if parts == nil || parts[3] == "" || continues(d, i) {
				continue
			}
			indent := parts[1][:indentation(parts[1])]
			return strings.TrimRight(indent+c.Key+parts[2]+c.Value, " \t")
		}
	}
	return strings.TrimRight(c.Key+" = "+c.Value, " ")
}
