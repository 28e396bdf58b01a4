package config

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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
	if t := l.t.refs.asAddress(a.Expr); len(t) == 1 && t.RootName() == "all" {
		return ignored{all: true}
	}
	items, bad := hcl.ExprList(unparen(a.Expr))
	if bad.HasErrors() {
		l.add(failure(a.Expr.Range(), "Invalid ignore_changes", "It is a list of attributes of the config, such as [size, tags[\"x\"], disks[0].size], or the word all."))
		return ignored{}
	}
	var out ignored
	for _, item := range items {
		if t := l.t.refs.asAddress(item); t != nil {
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
