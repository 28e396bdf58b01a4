package original

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/migrate/expressions"
	"deployster/internal/migrate/jinja"
)

// scope is what is known of the values of variables, by their names in the original.
type scope map[string]*variable

// variable is a variable with a value in a file.
type variable struct {
	of    string // its name in the original
	name  string // in HCL
	value *node
	local bool // it is a local value: no constant, merged of several files, or replaced by a later file
	used  bool
}

// code returns the reference to a variable.
func (v *variable) code() string {
	if v.local {
		return "local." + v.name
	}
	return "var." + v.name
}

// kinds of values, for expressions.
var kinds = map[kind]expressions.Kind{null: expressions.Unknown, boolean: expressions.Bool, integer: expressions.Int,
	float: expressions.Float, text: expressions.String, list: expressions.List, object: expressions.Dict}

// reference returns a variable as a value.
func (v *variable) reference(kind expressions.Kind) expressions.Value {
	if v.value.kind == list && kind == expressions.List {
		return expressions.Elements(v.code(), elementKind(v.value))
	}
	if v.value.kind == null {
		return expressions.Nullable(v.code())
	}
	return expressions.Code(v.code(), kind)
}

// elementKind returns the kind of all elements of a list.
func elementKind(n *node) expressions.Kind {
	kind := expressions.Unknown
	for i, item := range n.items {
		k := kinds[item.kind]
		if k == expressions.String && jinja.IsTemplate(item.value) || i > 0 && k != kind {
			return expressions.Unknown
		}
		kind = k
	}
	return kind
}

// templated reports whether a part of a value is an expression.
func templated(n *node) bool {
	return n.kind == text && jinja.IsTemplate(n.value) || slices.ContainsFunc(n.items, templated)
}

// readVariables reads the files of variables, in their order.
func (m *migration) readVariables(files []File) {
	for _, f := range files {
		doc, err := parse(f)
		if err != nil {
			m.refuse(err)
			continue
		}
		if doc == nil {
			continue
		}
		if doc.kind != object {
			m.refuse(invalid(f.Name, doc.line, "a file of variables is an object: NAME: VALUE"))
			continue
		}
		known := maps.Clone(m.variables)
		scoped(doc, &known)
		for i, k := range doc.keys {
			m.define(k, doc.items[i], f.Auto)
		}
		if f.Auto && len(doc.keys) > 0 {
			m.note(f.Name, 1, "deployster reads this file too, its expressions as text: its values are now in %s, so remove it",
				m.variablesFile())
		}
	}
}

// scoped makes the expressions of a file know the variables of earlier ones only.
func scoped(n *node, known *scope) {
	n.scope = known
	for _, item := range n.items {
		scoped(item, known)
	}
}

// define gives a variable a value. Objects of several files are merged.
func (m *migration) define(k key, value *node, auto bool) {
	v := &variable{of: k.name, value: value, local: templated(value)}
	if old := m.variables[k.name]; old != nil {
		if auto {
			m.note(value.file, k.line, "%s has a value in %s too: the original reads such files in the order of the directory, and here "+
				"the last by name counts", k.name, old.value.file)
		}
		if old.value.kind == object && value.kind == object {
			v.value, v.local = mergeNodes(old.value, value), true
		}
		old.local = true // what is computed from the value before keeps it
	}
	m.variables[k.name] = v
	m.order = append(m.order, v)
}

// nameVariables gives the variables their names in HCL.
func (m *migration) nameVariables() {
	for _, name := range slices.Concat(expressions.Sorted(m.variables), expressions.Sorted(m.before)) {
		if expressions.IsName(name) && !slices.Contains(reserved, name) {
			m.renamed[name], m.taken[name] = name, true
		}
	}
	locals := map[string]bool{"false_values": true}
	for _, v := range slices.Backward(m.order) { // the last value has the name
		v.name = m.variableName(v.of)
		if v.local {
			base := v.name
			for n := 2; locals[v.name]; n++ {
				v.name = fmt.Sprintf("%s_%d", base, n)
			}
			locals[v.name] = true
		}
	}
}

// mergeNodes returns an object with the keys of both; the second is the stronger one.
func mergeNodes(a, b *node) *node {
	out := *a
	out.keys, out.items = slices.Clone(a.keys), slices.Clone(a.items)
	for i, k := range b.keys {
		at := slices.IndexFunc(out.keys, func(old key) bool { return old.name == k.name })
		switch {
		case at < 0:
			out.keys, out.items = append(out.keys, k), append(out.items, b.items[i])
		case out.items[at].kind == object && b.items[i].kind == object:
			out.items[at] = mergeNodes(out.items[at], b.items[i])
		default:
			out.items[at] = b.items[i]
		}
	}
	return &out
}

// reserved are names that no variable can have in HCL.
var reserved = []string{"source", "count", "for_each", "depends_on", "version", "providers", "lifecycle", "locals"}

// variableName returns the name in HCL of a variable of the original.
func (m *migration) variableName(name string) string {
	if to := m.renamed[name]; to != "" {
		return to
	}
	to := strings.TrimLeft(cleaned(name), "_-0123456789")
	if slices.Contains(reserved, to) {
		to += "_value"
	}
	if to == "" {
		to = "value"
	}
	to = m.free(to)
	m.renamed[name] = to
	return to
}

// free returns a name for a variable that no other has.
func (m *migration) free(name string) string {
	for base, n := name, 2; m.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	m.taken[name] = true
	return name
}

// cleaned replaces what a name in HCL cannot have.
func cleaned(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || expressions.IsName("a"+string(c)) {
			return c
		}
		return '_'
	}, name)
}
