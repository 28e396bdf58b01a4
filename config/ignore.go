package config

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
	"deployster/internal/base/jsondoc"
)

// LastConfig is the config with which a resource was last recorded as VALID.
type LastConfig struct {
	Value     json.RawMessage
	Sensitive []string // JSON pointers into Value
}

// ignored are the parts of a config whose changes are ignored.
type ignored struct {
	all   bool
	paths []ignoredPath
}

type ignoredPath struct {
	steps hcl.Traversal // from the config on
	at    hcl.Range
}

// ignoreChanges reads lifecycle.ignore_changes.
func (l *loader) ignoreChanges(a *hcl.Attribute) ignored {
	if a == nil {
		return ignored{}
	}
	if t := l.m.asAddress(a.Expr); len(t) == 1 && t.RootName() == "all" {
		return ignored{all: true}
	}
	items, bad := hcl.ExprList(unparen(a.Expr))
	if bad.HasErrors() {
		l.add(failure(a.Expr.Range(), "Invalid ignore_changes", "It is a list of attributes of the config, such as [size, tags[\"x\"], disks[0].size], or the word all."))
		return ignored{}
	}
	var out ignored
	for _, item := range items {
		if t := l.m.asAddress(item); t != nil {
			out.paths = append(out.paths, ignoredPath{t, item.Range()})
			continue
		}
		l.add(failure(item.Range(), "Not an attribute", "An element of ignore_changes names a part of the config, such as size, tags[\"x\"] or disks[0].size."))
	}
	return out
}

// keys are the steps of a path as they are in JSON pointers.
func (p ignoredPath) keys() []string {
	keys := []string{p.steps.RootName()}
	for _, step := range p.steps[1:] {
		keys = append(keys, objectKey(step))
	}
	return keys
}

// check finds paths that lead nowhere in a config, as far as it is known.
func (g ignored) check(config cty.Value) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, p := range g.paths {
		if d := p.check(config); d != nil {
			diags = append(diags, d)
		}
	}
	return diags
}

func (p ignoredPath) check(config cty.Value) *hcl.Diagnostic {
	v := config
	for i, key := range p.keys() {
		v, _ = v.Unmark()
		if !v.IsKnown() || v.IsNull() {
			return nil
		}
		next, there := part(v, key)
		if there {
			v = next
			continue
		}
		if i == 0 && key == "config" && len(p.steps) > 1 {
			rest := strings.TrimPrefix(traversalString(p.steps), "config")
			return failure(p.at, "Unknown attribute", "The paths of ignore_changes begin in the config. Write %s.", strings.TrimPrefix(rest, "."))
		}
		where := "The config"
		if i > 0 {
			where = "In the config, " + traversalString(p.steps[:i])
		}
		names := partNames(v)
		return failure(p.at, "Unknown attribute", "%s has no %q: %s.%s Only what is written in the config can be ignored.", where, key, oneOf(slices.Clone(names)), suggest(key, names))
	}
	return nil
}

// part is an element of an object, a map or a list, by its key in a JSON
// pointer.
func part(v cty.Value, key string) (cty.Value, bool) {
	for i, it := 0, elements(v); it != nil && it.Next(); i++ {
		k, child := it.Element()
		if limits.ElementKey(v.Type(), k, i) == key {
			return child, true
		}
	}
	return cty.NilVal, false
}

func partNames(v cty.Value) []string {
	var names []string
	for i, it := 0, elements(v); it != nil && it.Next(); i++ {
		k, _ := it.Element()
		names = append(names, limits.ElementKey(v.Type(), k, i))
	}
	return names
}

func elements(v cty.Value) cty.ElementIterator {
	if !v.CanIterateElements() {
		return nil
	}
	return v.ElementIterator()
}

func (g ignored) some() bool { return g.all || len(g.paths) > 0 }

// keep puts what was last recorded in the place of what is ignored. Changed are
// the JSON pointers of what was different.
func (g ignored) keep(config cty.Value, last *LastConfig) (kept cty.Value, changed []string) {
	before, err := fromJSON(last.Value)
	if err != nil {
		return config, nil // what cannot be read is not kept
	}
	before = markState(before, last.Sensitive)
	if g.all {
		if !same(config, before) {
			changed = []string{""}
		}
		return before, changed
	}
	for _, p := range g.paths {
		keys := p.keys()
		next := keepAt(config, before, keys)
		if !same(next, config) {
			changed = append(changed, jsondoc.JoinPointer(keys))
		}
		config = next
	}
	slices.Sort(changed)
	return config, slices.Compact(changed)
}

// same reports whether two values are known to be equal.
func same(a, b cty.Value) bool {
	a, _ = a.UnmarkDeep()
	b, _ = b.UnmarkDeep()
	if !a.IsWhollyKnown() || !b.IsWhollyKnown() {
		return false
	}
	var x, y jsonWriter
	return x.value(a) == nil && y.value(b) == nil && x.b.String() == y.b.String()
}

// keepAt takes what stands at a path from another value: what is there, or that
// nothing is.
func keepAt(v, before cty.Value, keys []string) cty.Value {
	if len(keys) == 0 {
		return before
	}
	plain, marks := v.Unmark()
	old, _ := before.Unmark()
	if !plain.IsKnown() || plain.IsNull() || !plain.CanIterateElements() || !old.CanIterateElements() {
		return v
	}
	was, there := part(old, keys[0])
	is, here := part(plain, keys[0])
	if t := plain.Type(); !t.IsObjectType() && !t.IsMapType() {
		if !there || !here {
			return v // a list keeps its length
		}
		items := plain.AsValueSlice()
		for i := range items {
			if limits.ElementKey(t, cty.NilVal, i) == keys[0] {
				items[i] = keepAt(is, was, keys[1:])
			}
		}
		return cty.TupleVal(items).WithMarks(marks)
	}
	attrs := plain.AsValueMap()
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	switch {
	case there && (here || len(keys) == 1):
		if !here {
			is = was
		}
		attrs[keys[0]] = keepAt(is, was, keys[1:])
	case here && len(keys) == 1:
		delete(attrs, keys[0])
	}
	return cty.ObjectVal(attrs).WithMarks(marks)
}
