package diagram

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostile are names that have a meaning in one of the three languages.
var hostile = []string{`a"b`, `back\`, `</text><script>alert(1)</script>`, `"];evil`, "x\x1b[31m\nnew", "-->", "#quot;", "`md`", "&amp;", "]]>", "\xff", "end", "\u202eright", `\N\G`, "%s%d", "{a|b}", "]:::create"}

func sample() Diagram {
	d := Diagram{Title: "a <title>"}
	for i, name := range hostile {
		d.Nodes = append(d.Nodes, Node{ID: name, Lines: []string{name, "acme/x"}, Note: name, Kind: kinds[i%len(kinds)].name, Link: "#" + name})
		if i > 0 {
			d.Edges = append(d.Edges, Edge{From: name, To: hostile[i/2], Weak: i%3 == 0})
		}
	}
	for i := range 12 {
		d.Nodes = append(d.Nodes, Node{ID: fmt.Sprint("m", i), Lines: []string{"m"}, Group: [][]string{{"module.a"}, {"module.a", "module.b[\"<x>\"]"}, {"module.c"}}[i%3]})
		d.Edges = append(d.Edges, Edge{From: fmt.Sprint("m", i), To: fmt.Sprint("m", i-2)})
	}
	return d
}

// big is a graph as large manifests have: chains, hubs, and what stands alone.
func big(n int) Diagram {
	var d Diagram
	for i := range n {
		d.Nodes = append(d.Nodes, Node{ID: fmt.Sprintf("n%04d", i), Lines: []string{fmt.Sprintf("resource_%d", i), "acme/type"}})
		if i%10 != 0 {
			d.Edges = append(d.Edges, Edge{From: fmt.Sprintf("n%04d", i), To: fmt.Sprintf("n%04d", i-1)}, Edge{From: fmt.Sprintf("n%04d", i), To: "n0000"},
				Edge{From: fmt.Sprintf("n%04d", i), To: fmt.Sprintf("n%04d", (i*7)%(i))})
		}
	}
	return d
}

// Whatever names there are, the picture is one XML document of drawing elements,
// in which they are text.
func TestSVG(t *testing.T) {
	t.Parallel()
	for _, right := range []bool{false, true} {
		d := sample()
		d.Rightwards = right
		svg := d.SVG()
		dec := xml.NewDecoder(strings.NewReader(svg))
		var text strings.Builder
		for {
			tok, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
			switch tok := tok.(type) {
			case xml.StartElement:
				if !strings.Contains(" svg title defs marker path rect g a text ", " "+tok.Name.Local+" ") {
					t.Errorf("an element %s", tok.Name.Local)
				}
			case xml.CharData:
				text.Write(tok)
			}
		}
		for _, want := range []string{`a"b`, `back\`, `<script>alert(1)`, "#quot;", "&amp;", `module.b["<x>"]`, "a <title>", "destroy"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the picture does not show %s", want)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Error("a place is no number")
		}
		if again := d.SVG(); again != svg {
			t.Error("the same diagram was drawn in two ways")
		}
	}
	if svg := (Diagram{}).SVG(); !strings.Contains(svg, "</svg>") || strings.Contains(svg, "Inf") {
		t.Errorf("nothing at all: %s", svg)
	}
}

// No two boxes overlap, no arrow points away from what comes first, and groups
// do not get into each other's way.
func TestLayout(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Diagram{"sample": sample(), "big": big(300), "circle": {Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "c", To: "a"}}}} {
		d = d.tidy()
		p := picture{d: d, l: newLayout(d, boxSize)}
		p.l.arrange(false)
		p.place()
		for i := range d.Nodes {
			w, h := boxSize(d.Nodes[i])
			if p.x[i]-w/2 < 0 || p.y[i]-h/2 < 0 || p.x[i]+w/2 > p.width || p.y[i]+h/2 > p.height {
				t.Errorf("%s: %s stands outside the picture", name, d.Nodes[i].ID)
			}
			for j := range i {
				v, g := boxSize(d.Nodes[j])
				if math.Abs(p.x[i]-p.x[j]) < (w+v)/2 && math.Abs(p.y[i]-p.y[j]) < (h+g)/2 {
					t.Errorf("%s: %s and %s overlap", name, d.Nodes[i].ID, d.Nodes[j].ID)
				}
			}
		}
		for i, route := range p.l.routes {
			for j := range route[1:] {
				if name != "circle" && p.y[route[j]] <= p.y[route[j+1]] {
					t.Errorf("%s: the arrow from %s to %s points down", name, d.Edges[i].From, d.Edges[i].To)
				}
			}
		}
	}
}

func TestLarge(t *testing.T) {
	t.Parallel()
	dense := Diagram{}
	for i := range 300 { // every edge that there can be
		dense.Nodes = append(dense.Nodes, Node{ID: fmt.Sprintf("%03d", i), Lines: []string{"x"}})
		for j := range i {
			dense.Edges = append(dense.Edges, Edge{From: fmt.Sprintf("%03d", i), To: fmt.Sprintf("%03d", j)})
		}
	}
	for name, d := range map[string]Diagram{"1000": big(1000), "dense": dense} {
		for format, draw := range map[string]func(Diagram) string{"svg": Diagram.SVG, "dot": Diagram.DOT, "mermaid": Diagram.Mermaid} {
			start := time.Now()
			out := draw(d)
			if took := time.Since(start); took > 5*time.Second || len(out) < 10_000 {
				t.Errorf("%s as %s took %s for %d bytes", name, format, took, len(out))
			}
		}
	}
}

// Each line of a flowchart has one of the shapes that Mermaid's grammar knows,
// whatever the names are: Mermaid 11.17 parses this very text.
func TestMermaid(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`^(flowchart BT|\s+n\d+\["[^"<>\x60&]*(<br>[^"<>\x60&]*)*"\](:::[a-z_]+)?|\s+subgraph g\d+\["[^"<>\x60&]*"\]|\s+end|  n\d+ (-->|-\.->) n\d+|  classDef [a-z_]+ fill:#\w+,stroke:#\w+,color:#\w+)$`)
	out := sample().Mermaid()
	for l := range strings.Lines(out) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("%q", l)
		}
	}
	if strings.Count(out, "subgraph") != 3 || strings.Count(out, "\n  end\n") != 2 {
		t.Errorf("groups: %s", out)
	}
}

// Outside quotes a graph has nothing but what we wrote; inside, a quote or a
// backslash is escaped. Where Graphviz is installed, it is asked too.
func TestDOT(t *testing.T) {
	t.Parallel()
	out := sample().DOT()
	bare := regexp.MustCompile(`"(?:[^"\\\n]|\\["\\n])*"`).ReplaceAllString(out, "Q")
	line := regexp.MustCompile(`^(digraph Q \{|\}|\s+(rankdir = BT;|node \[.*\];|Q \[label = Q, fillcolor = Q, color = Q, fontcolor = Q(, tooltip = Q)?\];|Q -> Q( \[style = dashed\])?;|subgraph cluster_\d+ \{|label = Q;|color = Q;|\}))$`)
	for l := range strings.Lines(bare) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("%q", l)
		}
	}
	dot, err := exec.LookPath("dot")
	if err != nil {
		return // what it would say is what the lines above say
	}
	file := filepath.Join(t.TempDir(), "x.dot")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(dot, "-Tcanon", "-o", os.DevNull, file).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}
