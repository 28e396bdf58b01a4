// Package diagram draws dependencies. It owns the appearance of a graph: nodes and edges
// come in; a graph for Graphviz, a flowchart for Mermaid, or an SVG picture that needs no
// other program goes out. Names may contain any characters, and are output as text that
// is shown, never as markup.
package diagram
