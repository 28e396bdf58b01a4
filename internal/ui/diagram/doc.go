// Package diagram draws what depends on what. It owns the looks of a graph: in come
// nodes and edges, out goes a graph for Graphviz, a flowchart for Mermaid, or an SVG
// picture that needs no other program. Names may have any characters in them, and
// come out as text that is shown, never as markup.
package diagram
