package manual

import "strings"

// ManName returns the name of the man page, such as "deployster-state-mv".
func (p Page) ManName() string { return strings.ReplaceAll(p.Name(), " ", "-") }

// Man returns the page in roff, for man(1).
func (p Page) Man(version string) string {
	var b strings.Builder
	section := func(title string) { b.WriteString(".SH " + title + "\n") }
	b.WriteString(".TH " + strings.ToUpper(escaped(p.ManName())) + " 1 \"\" \"deployster " + version + "\" \"deployster\"\n")
	section("NAME")
	b.WriteString(escaped(p.ManName()) + " \\- " + escaped(p.Summary) + "\n")
	section("SYNOPSIS")
	b.WriteString(".B " + escaped(p.Usage()) + "\n")
	if p.Description != "" {
		section("DESCRIPTION")
		for _, line := range paragraphs(p.Description) { // indented lines are not joined
			b.WriteString(text(line))
		}
	}
	if len(p.Commands) > 0 {
		section("COMMANDS")
		for _, c := range p.Commands {
			b.WriteString(".TP\n.BR " + escaped(c.ManName()) + " (1)\n" + text(c.Summary))
		}
	}
	for _, list := range []struct {
		title string
		flags []Flag
	}{{"OPTIONS", p.Flags}, {"OPTIONS OF ALL COMMANDS", p.Common}} {
		if len(list.flags) > 0 {
			section(list.title)
		}
		for _, f := range list.flags {
			b.WriteString(".TP\n.B " + escaped(f.Form()) + "\n" + text(f.Meaning()))
		}
	}
	if len(p.Examples) > 0 {
		section("EXAMPLES")
		b.WriteString(".nf\n")
		for _, line := range p.Examples {
			b.WriteString(text(line))
		}
		b.WriteString(".fi\n")
	}
	if len(p.Path) > 0 {
		above := Page{Path: p.Path[:len(p.Path)-1]}
		section("SEE ALSO")
		b.WriteString(".BR " + escaped(above.ManName()) + " (1)\n")
	}
	return b.String()
}

// text returns a line that roff does not take for a request.
func text(line string) string {
	line = escaped(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line + "\n"
}

// escaped escapes the characters that are special in roff.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\"", `\(dq`).Replace(s)
}
