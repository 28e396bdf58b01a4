package manual

import "strings"

// ManName is the name of its man page, such as "deployster-state-mv".
func (p Page) ManName() string { return strings.ReplaceAll(p.Name(), " ", "-") }

// Man is the page in roff, for man(1).
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
		for _, line := range paragraphs(p.Description) { // those that are indented stand on lines of their own
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

// text is a line that is no request of roff.
func text(line string) string {
	line = escaped(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line + "\n"
}

// escaped writes what roff would read otherwise.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\"", `\(dq`).Replace(s)
}
