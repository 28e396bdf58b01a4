package match

// index finds objects by their identity, as the declared types see them. So Match
// need not compare every resource with every entry.
type index struct {
	views map[string][]Type // what the declared types declare today, by repository and by kind
}

func newIndex(declared []Declared) index {
	x := index{views: map[string][]Type{}}
	seen := map[string]bool{}
	for _, d := range declared {
		t := d.Thing.Type
		if id := t.view(); !seen[id] {
			seen[id] = true
			for _, group := range t.groups() {
				x.views[group] = append(x.views[group], t)
			}
		}
	}
	return x
}

// view returns a text that is equal for types which identify objects in the same way.
func (t Type) view() string {
	parts := []string{t.Repository, t.Fragment, t.Kind}
	for _, n := range t.Names {
		parts = append(parts, n.Pointer, string(n.Default), n.Scalar)
	}
	return join(parts...)
}

// groups returns the keys of index.views under which the types that may manage an object are found.
func (t Type) groups() []string {
	groups := []string{join("repository", t.Repository, t.Fragment)}
	if t.Kind != "" {
		groups = append(groups, join("kind", t.Kind, t.Fragment))
	}
	return groups
}

// identity returns the identity of a declared resource; "" = unclear.
func (d Declared) identity() string {
	if d.Late {
		return ""
	}
	return d.Thing.identity(d.Thing.Type, d.Thing.Type.Names)
}

// identity returns the identity of an object as a type sees it; "" = unclear.
func (t Object) identity(as Type, names []Name) string {
	values, known := t.values(names)
	if !known {
		return ""
	}
	return join(as.view(), join(values...), t.surroundings())
}

// SameNames reports whether two descriptions by one type have the same identity, or both
// have none.
func SameNames(a, b Object) bool {
	return a.identity(a.Type, a.Type.Names) == b.identity(b.Type, b.Type.Names)
}

// recorded returns the identities of an entry's object, as each declared type of its kind
// sees it.
func (x index) recorded(t Object) []string {
	var found []string
	seen := map[string]bool{}
	for _, group := range t.Type.groups() {
		for _, view := range x.views[group] {
			if id := view.view(); seen[id] {
				continue
			} else {
				seen[id] = true
			}
			ty := currentType(view, t.Type)
			if compareKinds(view, ty) != Equal || !comparable(view, ty) {
				continue
			}
			if id := t.identity(view, ty.Names); id != "" {
				found = append(found, id)
			}
		}
	}
	return found
}

// unsaid returns the identity of an object without its kind, to compare types of different
// repositories of which at least one does not report its kind; "" = unclear.
func (t Object) unsaid() string {
	values, known := t.values(t.Type.Names)
	if !known || t.Type.Memory {
		return ""
	}
	var pointers []string
	for _, n := range t.Type.Names {
		pointers = append(pointers, n.Pointer)
	}
	return join(t.Type.Fragment, join(pointers...), join(values...), t.surroundings())
}
