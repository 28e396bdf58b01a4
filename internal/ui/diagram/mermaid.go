package diagram

import (
	"fmt"
	"strings"
)

// Mermaid returns the diagram as a Mermaid flowchart, for Markdown pages.
func (d Diagram) Mermaid() string {
	d = d.tidy()
	var b strings.Builder
	b.WriteString("flowchart BT\n")
	number := map[string]int{}
	for i, n := range d.Nodes {
		number[n.ID] = i
	}
	boxes := 0
	d.mermaidBox(&b, d.boxes(), "  ", &boxes)
	for _, e := range d.Edges {
		arrow := "-->"
		if e.Weak {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", number[e.From], arrow, number[e.To])
	}
	for _, i := range d.legend() {
		k := kinds[i]
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:%s\n", k.name, k.fill, k.line, k.text)
	}
	return b.String()
}

func (d Diagram) mermaidBox(b *strings.Builder, g *box, indent string, boxes *int) {
	for _, i := range g.nodes {
		n := d.Nodes[i]
		lines := make([]string, len(n.Lines))
		for j, line := range n.Lines {
			lines[j] = mermaidText(line)
		}
		fmt.Fprintf(b, "%sn%d[\"%s\"]", indent, i, strings.Join(lines, "<br>"))
		if k := kindIndex(n.Kind); k > 0 {
			b.WriteString(":::" + kinds[k].name)
		}
		b.WriteString("\n")
	}
	for _, inner := range g.boxes {
		*boxes++
		fmt.Fprintf(b, "%ssubgraph g%d[\"%s\"]\n", indent, *boxes, mermaidText(inner.name()))
		d.mermaidBox(b, inner, indent+"  ", boxes)
		fmt.Fprintf(b, "%send\n", indent)
	}
}

// mermaidText writes all characters but letters, digits and a few safe ones by number:
// many characters have a meaning somewhere in the language.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ._-/:@", r), r > 0x7f:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
