package jsondiff

import (
	"encoding/json"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// Known is the text that replaces a value that is unknown before apply.
const Known = "(known after apply)"

// mayChange is added to a value that is only expected.
const mayChange = " (may change)"

// Value is a JSON document, with the pointers to values that must not, or cannot, be shown.
type Value struct {
	JSON      json.RawMessage
	Sensitive []string          // JSON pointers
	Unknown   map[string]string // JSON pointers -> what makes it unknown
	Open      []string          // JSON pointers to further values that are unknown
	MayChange []string          // JSON pointers to values that are only expected
}

// Op is the operation on a value or on a line.
type Op byte

// The operations. Same and Gap are for lines only: a Gap replaces lines that are not
// shown, and reports how many.
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
	Pointer string // JSON pointer into the desired value, or for Remove into the present one
	Path    string // the same for people: `tags.owner`, `rules[2].port`

	// Have and Want are the present and the desired value; "" where there is none. The
	// further lines of a value of several lines are indented by eight columns.
	Have, Want string

	// Lines show the difference where that is clearer than both values: in long texts and
	// lists. Have and Want are empty then.
	Lines []Line
}

// Line is a line of a text, or an element of a list.
type Line struct {
	Op   Op
	Text string
}

// Diff is the difference between two values.
type Diff struct {
	Rows      []Row
	Unchanged int // keys that are the same in both
	More      int // rows beyond the limit
}

// Options control a comparison.
type Options struct {
	// Hide hides secrets in texts that are not marked as sensitive; nil = there are none.
	Hide func(string) string

	// Missing: keys that only the desired value has also differ at the first level.
	// Extra: keys that only the present value has differ too, at every level. Without
	// these options only keys in both are compared: an id in a state or a password in a
	// config is then no difference.
	Missing, Extra bool

	// Path and Pointer are the place of the two values in a larger document; "" = they
	// are the whole document.
	Path, Pointer string
}

// The limits of what is shown.
const (
	MaxText = 1000 // bytes of one value
	maxRows = 50
	maxBody = 60  // lines of one difference
	maxLine = 200 // bytes of a line of text
	context = 2   // lines that are shown around a changed one
)

// Compare returns the differences between the present and the desired value. A document
// that cannot be read has no differences.
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
		// There must be a difference: it is in keys that only the present value has.
		c.diff, c.nested = Diff{}, true
		c.compare(h, w, place{path: o.Path})
	}
	c.diff.setPointers(o.Pointer)
	return c.diff
}

// setPointers prefixes the pointers of the rows with their place in a larger document.
func (d *Diff) setPointers(base string) {
	for i := range d.Rows {
		d.Rows[i].Pointer = base + d.Rows[i].Pointer
	}
}

// List returns all of a value as added rows.
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

// Text renders a whole value, its first MaxText bytes or a little more; lines after the
// first are indented by the given number of spaces.
func Text(v Value, indent int, hide func(string) string) string {
	return TextWithin(v, indent, MaxText, hide)
}

// TextWithin is Text with another limit; a negative one means none.
func TextWithin(v Value, indent, most int, hide func(string) string) string {
	tree, err := jsondoc.Value(v.JSON)
	if err != nil {
		return "(unreadable: " + quote(err.Error()) + ")"
	}
	s := newSide(v, hide)
	return s.text(tree, "", indent, most)
}

// Path converts a JSON pointer to a path for people.
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

// At renders the part of a value at a JSON pointer, like Text.
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
