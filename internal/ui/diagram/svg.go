package diagram

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"

	"deployster/internal/base/graph"
)

// The sizes of the picture, in pixels.
const (
	charWidth  = 6.7 // of the monospaced font at fontSize
	fontSize   = 11
	lineHeight = 15
	padding    = 9
	margin     = 24
	gapAcross  = 22 // between two boxes of a layer
	gapLayer   = 56 // between two layers
	legendRoom = 34
)

// SVG returns a picture of the diagram: boxes in layers, dependencies on top. The picture
// needs no font, no script and no other file. A page that contains it can change its
// colours: its parts have the classes paper, legend, edges and node; those of the legend
// and the nodes have their kind as a class too.
func (d Diagram) SVG() string { return newPicture(d.tidy()).draw() }

// picture is a tidy diagram with a place in pixels for each node.
type picture struct {
	d             Diagram
	boxes         map[string]*spot
	width, height float64
	b             strings.Builder
}

// spot is the place of a node's box.
type spot struct{ x, y, width, height float64 } // x and y of the centre

// newPicture places the layers below each other, each centred, and within a layer the
// nodes of a module side by side, near the nodes that they depend on.
func newPicture(d Diagram) *picture {
	p := &picture{d: d, boxes: map[string]*spot{}}
	nodes, needs := map[string]Node{}, map[string][]string{}
	for _, n := range d.Nodes {
		nodes[n.ID] = n
	}
	for _, e := range d.Edges {
		needs[e.From] = append(needs[e.From], e.To)
	}
	layers := layersOf(d)
	widths := make([]float64, len(layers))
	p.height = margin
	if len(d.legend()) > 0 {
		p.height += legendRoom
	}
	for i, layer := range layers {
		wish := map[string]float64{}
		for _, id := range layer {
			for _, needed := range needs[id] {
				if at := p.boxes[needed]; at != nil { // a node in a cycle has no place yet
					wish[id] += at.x / float64(len(needs[id]))
				}
			}
		}
		slices.SortStableFunc(layer, func(a, b string) int {
			return cmp.Or(slices.Compare(nodes[a].Group, nodes[b].Group), cmp.Compare(wish[a], wish[b]))
		})
		deepest := 0.0
		for _, id := range layer {
			at := sizeOf(nodes[id])
			at.x = widths[i] + at.width/2
			widths[i] += at.width + gapAcross
			deepest = max(deepest, at.height)
			p.boxes[id] = at
		}
		for _, id := range layer {
			p.boxes[id].x -= widths[i] / 2
			p.boxes[id].y = p.height + deepest/2
		}
		p.height += deepest + gapLayer
	}
	p.width = max(slices.Max(append(widths, 0))+2*margin, p.legendWidth()+2*margin, 120)
	for _, at := range p.boxes {
		at.x += (p.width + gapAcross) / 2
	}
	return p
}

// layersOf returns the layers of a graph: each node in a later one than its dependencies,
// nodes in a cycle in the last. A very wide layer is split into several.
func layersOf(d Diagram) (layers [][]string) {
	needs := graph.Graph{}
	for _, n := range d.Nodes {
		needs[n.ID] = nil
	}
	for _, e := range d.Edges {
		needs[e.From] = append(needs[e.From], e.To)
	}
	widest := max(8, int(math.Ceil(1.2*math.Sqrt(float64(len(d.Nodes))))))
	frontier := graph.NewFrontier(needs)
	for layer := frontier.TakeAll(); len(layer) > 0; layer = frontier.TakeAll() {
		for _, id := range layer {
			frontier.Done(id)
		}
		layers = slices.AppendSeq(layers, slices.Chunk(layer, widest))
	}
	return slices.AppendSeq(layers, slices.Chunk(frontier.Waiting(), widest))
}

// text returns the text in a node's box: its module, if it is in one, and its lines.
func (n Node) text() []string {
	if len(n.Group) == 0 {
		return n.Lines
	}
	return append([]string{shorten(oneLine(strings.Join(n.Group, ".")))}, n.Lines...)
}

// sizeOf returns the size of a node's box, without a place.
func sizeOf(n Node) *spot {
	chars, lines := 4, n.text()
	for _, line := range lines {
		chars = max(chars, len([]rune(line)))
	}
	return &spot{width: math.Ceil(float64(chars)*charWidth) + 2*padding, height: float64(max(len(lines), 1)*lineHeight + padding)}
}

func (p *picture) legendWidth() float64 {
	width := 0.0
	for _, k := range p.d.legend() {
		width += legendStep(k)
	}
	return width
}

func legendStep(kind int) float64 { return 34 + charWidth*float64(len(legendWord(kind))) }

func (p *picture) draw() string {
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d">`+"\n",
		p.width, p.height, p.width, p.height, fontSize)
	p.printf("<title>%s</title>\n", escape(oneLine(p.d.Title)))
	p.printf(`<defs><marker id="_arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" ` +
		`orient="auto"><path class="edges" d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>` + "\n")
	p.printf(`<rect class="paper" width="100%%" height="100%%" fill="#ffffff"/>` + "\n")
	p.legend()
	p.printf(`<g class="edges" fill="none" stroke="#57606a" marker-end="url(#_arrow)">` + "\n")
	for _, e := range p.d.Edges {
		p.edge(p.boxes[e.From], p.boxes[e.To], e.Weak)
	}
	p.printf("</g>\n")
	for _, n := range p.d.Nodes {
		p.node(n, p.boxes[n.ID])
	}
	p.printf("</svg>\n")
	return p.b.String()
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

func (p *picture) legend() {
	x := float64(margin)
	for _, i := range p.d.legend() {
		k := kinds[i]
		p.printf(`<g class="legend %s"><rect x="%.0f" y="14" width="14" height="14" rx="3" fill="%s" stroke="%s"/>`+
			`<text x="%.0f" y="25" fill="#1f2328">%s</text></g>`+"\n", k.name, x, k.fill, k.line, x+20, legendWord(i))
		x += legendStep(i)
	}
}

// edge draws a smooth line from the top of one box to the bottom of another.
func (p *picture) edge(from, to *spot, weak bool) {
	start, end := from.y-from.height/2, to.y+to.height/2
	half := (start + end) / 2
	dash := ""
	if weak {
		dash = ` stroke-dasharray="5 4"`
	}
	p.printf(`<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f"%s/>`+"\n", from.x, start, from.x, half, to.x, half, to.x, end, dash)
}

func (p *picture) node(n Node, at *spot) {
	k := kinds[kindIndex(n.Kind)]
	left, top := at.x-at.width/2, at.y-at.height/2
	if n.Link != "" {
		p.printf(`<a href="%s">`, escape(n.Link))
	}
	p.printf(`<g class="%s"><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" stroke="%s"/>`,
		strings.TrimSpace("node "+k.name), escape(strings.Join(slices.DeleteFunc([]string{oneLine(n.ID), n.Note},
			func(s string) bool { return s == "" }), ", ")), left, top, at.width, at.height, k.fill, k.line)
	for j, line := range n.text() {
		weight := ""
		if j == len(n.text())-len(n.Lines) {
			weight = ` font-weight="bold"`
		}
		p.printf(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s"%s>%s</text>`, at.x,
			top+float64(padding)/2+11+float64(j*lineHeight), k.text, weight, escape(line))
	}
	p.printf("</g>")
	if n.Link != "" {
		p.printf("</a>")
	}
	p.printf("\n")
}

// escape escapes text for XML.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // writing to a buffer does not fail
	return b.String()
}
