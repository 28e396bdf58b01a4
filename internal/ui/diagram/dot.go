package diagram

import (
	"fmt"
	"strings"
)

// DOT returns the diagram in Graphviz's language. The names of its nodes are their IDs.
func (d Diagram) DOT() string {
	d = d.tidy()
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir = BT;\n", dotText(oneLine(d.Title))) // arrows point at what comes first, on top
	b.WriteString("  node [shape = box, style = \"rounded,filled\", fontname = \"monospace\", fontsize = 11];\n")
	clusters := 0
	d.dotBox(&b, d.boxes(), "  ", &clusters)
	for _, e := range d.Edges {
		style := ""
		if e.Weak {
			style = " [style = dashed]"
		}
		fmt.Fprintf(&b, "  %s -> %s%s;\n", dotText(e.From), dotText(e.To), style)
	}
	b.WriteString("}\n")
	return b.String()
}

func (d Diagram) dotBox(b *strings.Builder, g *box, indent string, clusters *int) {
	for _, i := range g.nodes {
		n, k := d.Nodes[i], kinds[kindIndex(d.Nodes[i].Kind)]
		fmt.Fprintf(b, "%s%s [label = %s, fillcolor = %q, color = %q, fontcolor = %q", indent, dotText(n.ID), dotText(strings.Join(n.Lines,
			"\n")), k.fill, k.line, k.text)
		if n.Note != "" {
			fmt.Fprintf(b, ", tooltip = %s", dotText(n.Note))
		}
		b.WriteString("];\n")
	}
	for _, inner := range g.boxes {
		*clusters++
		fmt.Fprintf(b, "%ssubgraph cluster_%d {\n%s  label = %s;\n%s  color = \"#8c959f\";\n", indent, *clusters, indent,
			dotText(inner.name()), indent)
		d.dotBox(b, inner, indent+"  ", clusters)
		fmt.Fprintf(b, "%s}\n", indent)
	}
}

// dotText quotes a text. It escapes backslashes, which begin Graphviz's own escapes.
func dotText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
