package jsondiff

import (
	"encoding/json"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// Known is what stands in the place of a value that is not known before apply.
const Known = "(known after apply)"

// mayChange stands behind a value that is only expected to be so.
const mayChange = " (may change)"

// Value is a JSON document with what must not, or cannot, be shown of it.
type Value struct {
	JSON      json.RawMessage
	Sensitive []string          // JSON pointers
	Unknown   map[string]string // JSON pointers -> what makes it unknown
	MayChange []string          // JSON pointers: what is shown is only expected
}

// Op says what happens to a value or to a line.
type Op byte

// The operations. Same and Gap are of lines only: a Gap stands for lines that
// are not shown, and says how many.
const (
	Add    Op = '+'
	Remove Op = '-'
	Change Op = '~'
	Same   Op = ' '
	Gap    Op = '@'
)

// Row is one value that differs.
type Row struct {
	Op      Op
	Pointer string // JSON pointer into what is wanted, or into what is there when it goes
	Path    string // the same for people: `tags.owner`, `rules[2].port`

	// Have and Want are the two values; "" where there is none. One that has
	// several lines is indented to stand eight columns in.
	Have, Want string

	// Lines tell the difference where that is clearer than both values: in long
	// texts and lists. Have and Want are empty then.
	Lines []Line
}

// Line is a line of a text, or an element of a list.
type Line struct {
	Op   Op
	Text string
}

// Diff is what differs between two values.
type Diff struct {
	Rows      []Row
	Unchanged int // keys that are the same in both
	More      int // rows beyond the most that are kept
}

// Options steer a comparison.
type Options struct {
	// Hide takes secrets out of texts that are marked nowhere; nil = there are none.
	Hide func(string) string

	// Missing: what is wanted and not there counts at the first level too.
	// Extra: so does what is there and not wanted, at every level. Without them
	// only the keys that both speak of do: an id in a state, a password in a
	// config differ from nothing.
	Missing, Extra bool

	// Path and Pointer are where in a larger document the two values stand; "" =
	// they are the whole.
	Path, Pointer string
}

// The most that is shown of one thing.
const (
	MaxText = 1000 // bytes of one value
	maxRows = 50
	maxBody = 60  // lines of one difference
	maxLine = 200 // bytes of a line of text
	context = 2   // lines that are shown around a changed one
)

// Compare says what differs between what is there and what is wanted. A
// document that cannot be read differs from nothing.
func Compare(have, want Value, o Options) Diff {
	h, err := jsondoc.Value(have.JSON)
	if err != nil {
		return Diff{}
	}
	w, err := jsondoc.Value(want.JSON)
	if err != nil {
		return Diff{}
	}
	c := &comparer{options: o, have: newSide(have, o.Hide), want: newSide(want, o.Hide)}
	c.compare(h, w, place{path: o.Path})
	if len(c.diff.Rows) == 0 && !o.Extra {
		// The difference must be somewhere: in what is there and not wanted.
		c.diff, c.nested = Diff{}, true
		c.compare(h, w, place{path: o.Path})
	}
	c.diff.setPointers(o.Pointer)
	return c.diff
}

// setPointers says where the rows stand in a larger document.
func (d *Diff) setPointers(base string) {
	for i := range d.Rows {
		d.Rows[i].Pointer = base + d.Rows[i].Pointer
	}
}

// List returns all of a value, as if nothing were there.
func List(want Value, o Options) Diff {
	w, err := jsondoc.Value(want.JSON)
	if err != nil {
		return Diff{}
	}
	c := &comparer{options: o, want: newSide(want, o.Hide)}
	object, ok := w.(map[string]any)
	if _, masked := c.want.placeholder(""); !ok || masked {
		c.add(c.newRow(w, place{path: o.Path}))
		c.diff.setPointers(o.Pointer)
		return c.diff
	}
	for _, k := range keys(object) {
		c.add(c.newRow(object[k], place{path: o.Path}.key(k)))
	}
	c.diff.setPointers(o.Pointer)
	return c.diff
}

// Text renders a whole value, its first MaxText bytes or a little more; lines
// after the first are indented by so many spaces.
func Text(v Value, indent int, hide func(string) string) string {
	return TextWithin(v, indent, MaxText, hide)
}

// TextWithin is Text with another limit; below 0 there is none.
func TextWithin(v Value, indent, most int, hide func(string) string) string {
	tree, err := jsondoc.Value(v.JSON)
	if err != nil {
		return "(unreadable: " + quote(err.Error()) + ")"
	}
	s := newSide(v, hide)
	return s.text(tree, "", indent, most)
}

// Path writes a JSON pointer as a path for people.
func Path(pointer string) string {
	at := place{}
	for _, step := range jsondoc.Pointer(pointer) {
		if n, err := strconv.Atoi(step); err == nil && at.path != "" && strconv.Itoa(n) == step {
			at = at.index(n, n)
		} else {
			at = at.key(step)
		}
	}
	return at.path
}

// At renders the part of a value at a JSON pointer, as Text does.
func At(v Value, pointer string, indent int, hide func(string) string) string {
	tree, err := jsondoc.Value(v.JSON)
	if err != nil {
		return "(unreadable)"
	}
	s, at := newSide(v, hide), ""
	for _, step := range jsondoc.Pointer(pointer) {
		if word, masked := s.placeholder(at); masked {
			return word
		}
		switch t := tree.(type) {
		case map[string]any:
			tree = t[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(t) {
				return "(nothing)"
			}
			tree = t[i]
		default:
			return "(nothing)"
		}
		at += jsondoc.JoinPointer([]string{step})
	}
	return s.text(tree, at, indent, MaxText)
}
