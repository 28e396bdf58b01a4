package graph

import "slices"

// ready is a set of names that gives the first one by name quickly, however
// many there are: each name stands before the two that are its children.
type ready []string

// put adds a name.
func (r *ready) put(name string) {
	h := append(*r, name)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent] <= h[i] {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	*r = h
}

// take removes the first name.
func (r *ready) take() string {
	h := *r
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], ""
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && h[child+1] < h[child] {
			child++
		}
		if h[i] <= h[child] {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*r = h
	return first
}

// all removes every name and gives them sorted.
func (r *ready) all() []string {
	h := *r
	*r = nil
	slices.Sort(h)
	return h
}
