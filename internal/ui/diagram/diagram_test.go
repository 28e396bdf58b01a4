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

// large returns a graph as large manifests have: chains, hubs, and what stands alone.
func large(n int) Diagram {
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

// elements returns the names of the elements of an XML document, and its text.
func elements(t *testing.T, doc string) (names map[string]int, text string) {
	t.Helper()
	names = map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(doc)); ; {
		tok, err := d.Token()
		if err == io.EOF {
			return names, text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			names[tok.Name.Local]++
		case xml.CharData:
			text += string(tok)
		}
	}
}

// Whatever names there are, the picture is one XML document of drawing elements,
// in which they are text.
func TestSVG_IsValidForAnyName(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Diagram{"sample": sample(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			svg := d.SVG()
			names, text := elements(t, svg)
			t.Run("elements draw", func(t *testing.T) {
				for element := range names {
					if !strings.Contains(" svg title defs marker path rect g a text ", " "+element+" ") {
						t.Errorf("an element %s", element)
					}
				}
			})
			t.Run("names are text", func(t *testing.T) {
				for _, want := range []string{`a"b`, `back\`, `<script>alert(1)`, "#quot;", "&amp;", `module.b["<x>"]`, "a <title>", "destroy"} {
					if name != "empty" && !strings.Contains(text, want) {
						t.Errorf("the picture does not show %s", want)
					}
				}
			})
			t.Run("places are numbers", func(t *testing.T) {
				if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
					t.Error(svg)
				}
			})
			t.Run("same picture again", func(t *testing.T) {
				if d.SVG() != svg {
					t.Error("the same diagram was drawn in two ways")
				}
			})
		})
	}
}

func TestLayout_KeepsBoxesApartAndInside(t *testing.T) {
	t.Parallel()
	circle := Diagram{Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "c", To: "a"}}}
	for name, d := range map[string]Diagram{"sample": sample(), "large": large(300), "circle": circle} {
		t.Run(name, func(t *testing.T) {
			p := newPicture(d.tidy())
			t.Run("boxes are inside", func(t *testing.T) {
				for id, at := range p.boxes {
					if at.x-at.width/2 < 0 || at.y-at.height/2 < 0 || at.x+at.width/2 > p.width || at.y+at.height/2 > p.height {
						t.Errorf("%s stands outside the picture", id)
					}
				}
			})
			t.Run("boxes do not overlap", func(t *testing.T) {
				for id, a := range p.boxes {
					for other, b := range p.boxes {
						if id != other && math.Abs(a.x-b.x) < (a.width+b.width)/2 && math.Abs(a.y-b.y) < (a.height+b.height)/2 {
							t.Errorf("%s and %s overlap", id, other)
						}
					}
				}
			})
			t.Run("arrows point up", func(t *testing.T) {
				for _, e := range p.d.Edges {
					if name != "circle" && p.boxes[e.From].y <= p.boxes[e.To].y {
						t.Errorf("the arrow from %s to %s points down", e.From, e.To)
					}
				}
			})
		})
	}
}

func TestDiagram_LargeIsDrawnInTime(t *testing.T) {
	t.Parallel()
	dense := Diagram{}
	for i := range 300 { // every edge that there can be
		dense.Nodes = append(dense.Nodes, Node{ID: fmt.Sprintf("%03d", i), Lines: []string{"x"}})
		for j := range i {
			dense.Edges = append(dense.Edges, Edge{From: fmt.Sprintf("%03d", i), To: fmt.Sprintf("%03d", j)})
		}
	}
	for name, d := range map[string]Diagram{"1000 nodes": large(1000), "dense": dense} {
		for format, draw := range map[string]func(Diagram) string{"svg": Diagram.SVG, "dot": Diagram.DOT, "mermaid": Diagram.Mermaid} {
			t.Run(name+" as "+format, func(t *testing.T) {
				start := time.Now()
				out := draw(d)
				if took := time.Since(start); took > 20*time.Second || len(out) < 10_000 {
					t.Errorf("%s for %d bytes", took, len(out))
				}
			})
		}
	}
}

// Each line of a flowchart has one of the shapes that Mermaid's grammar knows,
// whatever the names are: Mermaid 11.17 parses this very text.
func TestMermaid_LinesAreInItsGrammar(t *testing.T) {
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
func TestDOT_NamesAreQuoted(t *testing.T) {
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
