package jsondiff

import (
	"encoding/json"
	"strconv"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// comparer is one comparison.
type comparer struct {
	options    Options
	have, want side
	nested     bool // values that exist but are not declared count, below the first keys
	diff       Diff
}

// place is the place of a comparison in the two values.
type place struct {
	path       string
	have, want string // JSON pointers
}

func (p place) key(k string) place {
	step := jsondoc.JoinPointer([]string{k})
	return place{strings.TrimPrefix(p.path+"."+Key(k), "."), p.have + step, p.want + step}
}

func (p place) index(have, want int) place {
	return place{p.path + "[" + strconv.Itoa(want) + "]", p.have + "/" + strconv.Itoa(have), p.want + "/" + strconv.Itoa(want)}
}

func (c *comparer) add(r Row) {
	if len(c.diff.Rows) >= maxRows {
		c.diff.More++
		return
	}
	c.diff.Rows = append(c.diff.Rows, r)
}

// compare compares two values that both exist.
func (c *comparer) compare(have, want any, at place) {
	if c.addMasked(have, want, at) {
		return
	}
	if equal(have, want) {
		c.diff.Unchanged++
		return
	}
	if c.want.mayChange[at.want] {
		c.values(have, want, at)
		return
	}
	switch w := want.(type) {
	case map[string]any:
		if h, ok := have.(map[string]any); ok {
			c.objects(h, w, at)
			return
		}
	case []any:
		if h, ok := have.([]any); ok {
			c.lists(h, w, at)
			return
		}
	case string:
		if h, ok := have.(string); ok {
			c.strings(h, w, at)
			return
		}
	}
	c.values(have, want, at)
}

// addMasked adds the difference of values that cannot be shown, and reports whether they
// are of that kind.
func (c *comparer) addMasked(have, want any, at place) bool {
	_, unknown := c.want.unknown[at.want]
	switch {
	case c.have.sensitive[at.have] || c.want.sensitive[at.want]:
		switch {
		case unknown:
			c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Have: secret.Masked, Want: Known})
		case equal(have, want):
			c.diff.Unchanged++
		default:
			c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Have: secret.Masked, Want: secret.Masked})
		}
	case unknown:
		c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Have: c.have.text(have, at.have, 8, MaxText), Want: Known})
	default:
		return false
	}
	return true
}

// objects compares two objects by key.
func (c *comparer) objects(have, want map[string]any, at place) {
	top := at.path == ""
	for _, k := range keys(want) {
		here := at.key(k)
		if h, ok := have[k]; ok {
			c.compare(h, want[k], here)
			continue
		}
		_, unknown := c.want.unknown[here.want]
		if !top || c.options.Missing || unknown {
			c.add(c.newRow(want[k], here))
		}
	}
	if !c.options.Extra && (top || !c.nested) {
		return
	}
	for _, k := range keys(have) {
		if _, ok := want[k]; !ok {
			here := at.key(k)
			c.add(Row{Op: Remove, Pointer: here.have, Path: here.path, Have: c.have.text(have[k], here.have, 8, MaxText)})
		}
	}
}

// values adds a row with both values.
func (c *comparer) values(have, want any, at place) {
	c.add(Row{Op: Change, Pointer: at.want, Path: at.path,
		Have: c.have.text(have, at.have, 8, MaxText), Want: c.want.text(want, at.want, 8, MaxText)})
}

// newRow returns the row of a value that is only in the second document. A text of many
// lines is shown line by line.
func (c *comparer) newRow(want any, at place) Row {
	r := Row{Op: Add, Pointer: at.want, Path: at.path}
	text, ok := want.(string)
	if _, masked := c.want.placeholder(at.want); ok && !masked && !c.want.mayChange[at.want] && strings.Count(text, "\n") > 3 {
		r.Lines = body(c.want.clean(text))
		return r
	}
	r.Want = c.want.text(want, at.want, 8, MaxText)
	return r
}

// equal reports whether two JSON values are equal.
func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// canonical returns a text that is the same for equal values.
func canonical(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "" // it came from JSON
	}
	return string(raw)
}
