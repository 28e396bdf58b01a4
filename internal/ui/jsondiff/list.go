package jsondiff

import (
	"slices"
	"strconv"
	"strings"
)

// lists compares two lists: elements that have names by their names, others by the common
// elements of the lists.
func (c *comparer) lists(have, want []any, at place) {
	for _, key := range []string{"name", "id", "key"} {
		if h, w := byName(c.have, have, key, at.have), byName(c.want, want, key, at.want); h != nil && w != nil {
			c.namedLists(have, want, h, w, key, at)
			return
		}
	}
	h, w := texts(have), texts(want)
	if isReordered(h, w) {
		c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Lines: []Line{{Gap, "(the same elements in another order)"}}})
		return
	}
	one, other := c.have.text(have, at.have, 8, MaxText), c.want.text(want, at.want, 8, MaxText)
	if len(one)+len(other) < 100 && !strings.Contains(one+other, "\n") {
		c.values(have, want, at)
		return
	}
	edits := script(h, w)
	if pairs := changedInPlace(edits, have, want); pairs != nil {
		for _, e := range pairs {
			c.compare(have[e.have], want[e.want], at.index(e.have, e.want))
		}
		return
	}
	element := func(s side, v any, pointer string) string {
		return strings.ReplaceAll(s.text(v, pointer, 0, maxLine), "\n", " ")
	}
	c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Lines: fold(edits, "element", joinLines,
		func(i int, _ bool) string { return element(c.have, have[i], at.index(i, i).have) },
		func(j int) string { return element(c.want, want[j], at.index(j, j).want) })})
}

// joinLines joins the lines of an element.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// texts returns the canonical texts of the elements of a list.
func texts(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = canonical(v)
	}
	return out
}

// isReordered reports whether two lists contain the same elements in another order.
func isReordered(have, want []string) bool {
	if len(have) != len(want) {
		return false
	}
	return slices.Equal(slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(want)))
}

// changedInPlace returns the elements that changed in place, if nothing else changed and
// all of them are objects or lists, whose content shows more.
func changedInPlace(edits []edit, have, want []any) []edit {
	if len(have) != len(want) {
		return nil
	}
	var pairs []edit
	for i := range have {
		_, object := have[i].(map[string]any)
		_, list := have[i].([]any)
		if equal(have[i], want[i]) {
			continue
		}
		if !object && !list {
			return nil
		}
		pairs = append(pairs, edit{Change, i, i})
	}
	if countChanges(edits) < 2*len(pairs) {
		return nil // elements have moved
	}
	return pairs
}

// byName returns the indexes of a list's objects by the distinct names that they have
// under a key; nil if the list is not of that kind, or a name must not be shown.
func byName(s side, list []any, key, pointer string) map[string]int {
	names := map[string]int{}
	for i, v := range list {
		object, _ := v.(map[string]any)
		name, ok := object[key].(string)
		here := pointer + "/" + strconv.Itoa(i)
		_, masked := s.placeholder(here + "/" + key)
		_, whole := s.placeholder(here)
		if !ok || masked || whole {
			return nil
		}
		names[name] = i
	}
	if len(list) == 0 || len(names) != len(list) {
		return nil
	}
	return names
}

// namedLists compares element by element: first the desired elements, in their order,
// then the removed ones.
func (c *comparer) namedLists(have, want []any, h, w map[string]int, key string, at place) {
	nameOf := func(v any) string { return v.(map[string]any)[key].(string) }
	changes := len(c.diff.Rows)
	for j, v := range want {
		i, there := h[nameOf(v)]
		here := at.index(i, j)
		here.path = at.path + "[" + cut(c.want.clean(nameOf(v)), maxLine) + "]"
		if there {
			c.compare(have[i], v, here)
		} else {
			c.add(c.newRow(v, here))
		}
	}
	for i, v := range have {
		if _, wanted := w[nameOf(v)]; !wanted {
			here := at.index(i, i)
			c.add(Row{Op: Remove, Pointer: here.have, Path: at.path + "[" + cut(c.have.clean(nameOf(v)), maxLine) + "]",
				Have: c.have.text(v, here.have, 8, MaxText)})
		}
	}
	if len(c.diff.Rows) == changes && c.diff.More == 0 {
		c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Lines: []Line{{Gap, "(the same elements in another order)"}}})
	}
}
