package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The sizes of the picture, in pixels.
const (
	charWidth  = 6.7 // of the monospaced font at fontSize
	fontSize   = 11
	lineHeight = 15
	padding    = 9
	margin     = 24
	gapLayer   = 56 // between two layers
	frame      = 12 // from a group's boxes to its frame
	legendRoom = 34
)

// SVG returns a picture of the diagram. The picture needs nothing else: no font, no script, no
// other file. A page that it stands in can give it other colours: its parts have
// the classes paper, legend, frame, edges and node, and those of the legend and
// the nodes their kind too.
func (d Diagram) SVG() string { return newPicture(d.tidy()).draw() }

func boxSize(n Node) (width, height float64) {
	chars := 4
	for _, line := range n.Lines {
		chars = max(chars, len([]rune(line)))
	}
	return math.Ceil(float64(chars)*charWidth) + 2*padding, float64(max(len(n.Lines), 1)*lineHeight + padding)
}

// picture is a layout with a place in pixels for everything.
type picture struct {
	d             Diagram
	l             *layout
	x, y          []float64 // the middle of each spot
	width, height float64
	b             *strings.Builder
}

// newPicture lays a tidy diagram out, and turns the layout into pixels.
func newPicture(d Diagram) *picture {
	p := &picture{d: d, b: &strings.Builder{}, l: newLayout(d, func(n Node) (float64, float64) {
		w, h := boxSize(n)
		if d.Rightwards {
			return h, w
		}
		return w, h
	})}
	p.x, p.y = make([]float64, len(p.l.spots)), make([]float64, len(p.l.spots))
	along, deepest, widest := 0.0, 0, 0.0
	for _, n := range p.d.Nodes {
		deepest = max(deepest, len(n.Group))
	}
	room := margin + float64(deepest)*(frame+lineHeight)
	for _, layer := range p.l.layers {
		size := 0.0
		for _, s := range layer {
			size = max(size, p.l.spots[s].along)
		}
		for _, s := range layer {
			p.x[s], p.y[s] = room+p.l.spots[s].at, room+along+size/2
			widest = max(widest, p.l.spots[s].at+p.l.spots[s].across/2)
		}
		along += size + gapLayer
	}
	p.width, p.height = widest+2*room, max(along-gapLayer, 0)+2*room
	if p.d.Rightwards {
		p.x, p.y, p.width, p.height = p.y, p.x, p.height, p.width
	}
	legend := p.legendWidth()
	if legend > 0 {
		for i := range p.y {
			p.y[i] += legendRoom
		}
		p.height += legendRoom
	}
	p.width = max(p.width, legend+2*margin, 120)
	return p
}

func (p *picture) legendWidth() float64 {
	width := 0.0
	for _, k := range p.d.legend() {
		width += legendStep(k)
	}
	return width
}

func legendStep(kind int) float64 { return 34 + charWidth*float64(len(kinds[kind].name)) }

func (p *picture) draw() string {
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d">`+"\n",
		p.width, p.height, p.width, p.height, fontSize)
	p.printf("<title>%s</title>\n", escape(oneLine(p.d.Title)))
	p.printf(`<defs><marker id="_arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" ` +
		`orient="auto"><path class="edges" d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>` + "\n")
	p.printf(`<rect class="paper" width="100%%" height="100%%" fill="#ffffff"/>` + "\n")
	p.legend()
	p.frames(p.d.boxes())
	p.printf(`<g class="edges" fill="none" stroke="#57606a" marker-end="url(#_arrow)">` + "\n")
	for i, route := range p.l.routes {
		p.edge(route, p.d.Edges[i].Weak)
	}
	p.printf("</g>\n")
	for i := range p.d.Nodes {
		p.node(i)
	}
	p.printf("</svg>\n")
	return p.b.String()
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(p.b, format, args...) }

func (p *picture) legend() {
	x := float64(margin)
	for _, i := range p.d.legend() {
		k := kinds[i]
		p.printf(`<g class="legend %s"><rect x="%.0f" y="14" width="14" height="14" rx="3" fill="%s" stroke="%s"/>`+
			`<text x="%.0f" y="25" fill="#1f2328">%s</text></g>`+"\n", k.name, x, k.fill, k.line, x+20, k.name)
		x += legendStep(i)
	}
}

// frames draws a frame around every group, the outer ones first, and returns the
// extent of the outermost.
func (p *picture) frames(g *box) (left, top, right, bottom float64) {
	left, top, right, bottom = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	include := func(l, t, r, b float64) {
		left, top, right, bottom = min(left, l), min(top, t), max(right, r), max(bottom, b)
	}
	for _, i := range g.nodes {
		w, h := boxSize(p.d.Nodes[i])
		include(p.x[i]-w/2, p.y[i]-h/2, p.x[i]+w/2, p.y[i]+h/2)
	}
	outside := p.b
	p.b = &strings.Builder{}
	for _, inner := range g.boxes {
		include(p.frames(inner))
	}
	insides := p.b.String()
	p.b = outside
	if len(g.path) > 0 {
		left, top, right, bottom = left-frame, top-frame-lineHeight, right+frame, bottom+frame
		if missing := charWidth*float64(len([]rune(g.name()))) + 16 - (right - left); missing > 0 {
			left, right = left-missing/2, right+missing/2
		}
		p.printf(`<g class="frame"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8" `+
			`fill="#57606a" fill-opacity="0.05" stroke="#8c959f" stroke-dasharray="4 3"/>`, left, top, right-left, bottom-top)
		p.printf(`<text x="%.1f" y="%.1f" fill="#57606a">%s</text></g>`+"\n", left+8, top+15, escape(g.name()))
	}
	p.printf("%s", insides)
	return left, top, right, bottom
}

// edge draws a route as a smooth line from the side of one box to that of the
// other.
func (p *picture) edge(route []int, weak bool) {
	type point struct{ x, y float64 }
	points := make([]point, len(route))
	for i, s := range route {
		points[i] = point{p.x[s], p.y[s]}
	}
	first, last := &p.l.spots[route[0]], &p.l.spots[route[len(route)-1]]
	start, end := &points[0], &points[len(points)-1]
	if p.d.Rightwards {
		start.x, end.x = start.x-first.along/2, end.x+last.along/2
	} else {
		start.y, end.y = start.y-first.along/2, end.y+last.along/2
	}
	p.printf(`<path d="M%.1f %.1f`, start.x, start.y)
	for i := range points[1:] {
		a, b := points[i], points[i+1]
		if p.d.Rightwards {
			half := (a.x + b.x) / 2
			p.printf("C%.1f %.1f %.1f %.1f %.1f %.1f", half, a.y, half, b.y, b.x, b.y)
		} else {
			half := (a.y + b.y) / 2
			p.printf("C%.1f %.1f %.1f %.1f %.1f %.1f", a.x, half, b.x, half, b.x, b.y)
		}
	}
	dash := ""
	if weak {
		dash = ` stroke-dasharray="5 4"`
	}
	p.printf(`"%s/>`+"\n", dash)
}

func (p *picture) node(i int) {
	n, k := p.d.Nodes[i], kinds[kindIndex(p.d.Nodes[i].Kind)]
	w, h := boxSize(n)
	if n.Link != "" {
		p.printf(`<a href="%s">`, escape(n.Link))
	}
	p.printf(`<g class="%s"><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" stroke="%s"/>`,
		strings.TrimSpace("node "+k.name), escape(strings.Join(slices.DeleteFunc([]string{oneLine(n.ID), n.Note},
			func(s string) bool { return s == "" }), ", ")), p.x[i]-w/2, p.y[i]-h/2, w, h, k.fill, k.line)
	for j, line := range n.Lines {
		weight := ""
		if j == 0 {
			weight = ` font-weight="bold"`
		}
		p.printf(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s"%s>%s</text>`, p.x[i],
			p.y[i]-h/2+float64(padding)/2+11+float64(j*lineHeight), k.text, weight, escape(line))
	}
	p.printf("</g>")
	if n.Link != "" {
		p.printf("</a>")
	}
	p.printf("\n")
}

// escape writes text for XML.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer does not fail
	return b.String()
}
