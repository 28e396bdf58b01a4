package diagram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Diagram is a graph to draw.
type Diagram struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// Node is a node, drawn as a box.
type Node struct {
	ID    string   // unique
	Lines []string // the text in it
	Note  string   // shown when the mouse pointer is on it, where possible
	Kind  string   // its appearance, and a word of the legend; "" = plain
	Link  string   // the URL that a click on it opens in a picture; "" = none
	Group []string // the modules that it is in, outermost first
}

// Edge reports that From depends on To: the arrow points at To, which comes first. Edges of
// nodes that do not exist are left out.
type Edge struct {
	From, To string
	Weak     bool // order only
}

// kinds are the changes of a plan, with their appearance.
var kinds = []struct{ name, fill, line, text string }{
	{"", "#f6f8fa", "#57606a", "#1f2328"},
	{"valid", "#f6f8fa", "#8c959f", "#57606a"},
	{"create", "#dafbe1", "#1a7f37", "#0a3d1a"},
	{"update", "#fff8c5", "#9a6700", "#4d3300"},
	{"destroy", "#ffebe9", "#cf222e", "#66101a"},
	{"replace", "#fff1e5", "#bc4c00", "#5c2400"},
	{"publish", "#fbefff", "#8250df", "#3e1f79"},
	{"forget", "#eaeef2", "#6e7781", "#424a53"},
	{"deferred", "#ddf4ff", "#0969da", "#053c80"},
	{"may_change", "#ddf4ff", "#0969da", "#053c80"},
	{"adopt", "#ddf4ff", "#0969da", "#053c80"},
	{"record", "#ddf4ff", "#0969da", "#053c80"},
	{"left", "#eaeef2", "#6e7781", "#424a53"},
	{"read_failed", "#ffebe9", "#cf222e", "#66101a"},
}

// legendWord returns the name of a kind in the legend.
func legendWord(kind int) string {
	if name := kinds[kind].name; name != "valid" {
		return strings.ReplaceAll(name, "_", " ")
	}
	return "unchanged"
}

// kindIndex returns the index of a kind in kinds; an unknown kind is shown plainly.
func kindIndex(name string) int {
	for i, k := range kinds {
		if k.name == name {
			return i
		}
	}
	return 0
}

// tidy returns a copy with sorted nodes and edges without duplicates, without edges of
// missing nodes, and with texts that are safe to show: the drawing of a graph is always
// the same.
func (d Diagram) tidy() Diagram {
	d.Nodes, d.Edges = slices.Clone(d.Nodes), slices.Clone(d.Edges)
	slices.SortFunc(d.Nodes, func(a, b Node) int {
		return cmp.Or(slices.Compare(a.Group, b.Group), strings.Compare(a.ID, b.ID))
	})
	d.Nodes = slices.CompactFunc(d.Nodes, func(a, b Node) bool { return a.ID == b.ID })
	there := map[string]bool{}
	for i, n := range d.Nodes {
		there[n.ID] = true
		d.Nodes[i].Lines = slices.Clone(n.Lines)
		for j, line := range n.Lines {
			d.Nodes[i].Lines[j] = shorten(oneLine(line))
		}
		d.Nodes[i].Note = oneLine(n.Note)
	}
	d.Edges = slices.DeleteFunc(d.Edges, func(e Edge) bool { return !there[e.From] || !there[e.To] || e.From == e.To })
	slices.SortFunc(d.Edges, func(a, b Edge) int {
		weak := map[bool]int{true: 1}
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), weak[a.Weak]-weak[b.Weak])
	})
	d.Edges = slices.CompactFunc(d.Edges, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
	return d
}

// legend returns the kinds that occur, in the order of kinds.
func (d Diagram) legend() []int {
	var used []int
	for _, n := range d.Nodes {
		if i := kindIndex(n.Kind); i > 0 && !slices.Contains(used, i) {
			used = append(used, i)
		}
	}
	slices.Sort(used)
	return used
}

// maxLine is the number of characters of a line that are shown.
const maxLine = 48

func shorten(s string) string {
	if r := []rune(s); len(r) > maxLine {
		return string(r[:maxLine-1]) + "…"
	}
	return s
}

// oneLine replaces invisible characters, and those that XML forbids.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == 0xfffd {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// box is a group with its direct members; the outermost one has no name.
type box struct {
	path  []string
	nodes []int // into Nodes
	boxes []*box
}

// boxes returns the nodes of a tidy diagram in their groups.
func (d Diagram) boxes() *box {
	root := &box{}
	for i, n := range d.Nodes {
		at := root
		for depth := range n.Group {
			j := slices.IndexFunc(at.boxes, func(b *box) bool { return b.path[depth] == n.Group[depth] })
			if j < 0 {
				j = len(at.boxes)
				at.boxes = append(at.boxes, &box{path: n.Group[:depth+1]})
			}
			at = at.boxes[j]
		}
		at.nodes = append(at.nodes, i)
	}
	return root
}

// name returns the name of a box, without those of the boxes around it.
func (b *box) name() string { return shorten(oneLine(b.path[len(b.path)-1])) }
