package decl

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
)

// LastConfig is the config with which a resource was last recorded as VALID.
type LastConfig struct {
	Value     json.RawMessage
	Sensitive []string // JSON pointers into Value
}

// ignoreRules are the parts of a config whose changes are ignored.
type ignoreRules struct {
	all   bool
	paths []ignorePath
}

type ignorePath struct {
	steps hcl.Traversal // from the root of the config
	at    hcl.Range
}

// ignoreChanges decodes lifecycle.ignore_changes.
func (l *loader) ignoreChanges(a *hcl.Attribute) ignoreRules {
	if a == nil {
		return ignoreRules{}
	}
	if t := l.t.Refs.AsAddress(a.Expr); len(t) == 1 && t.RootName() == "all" {
		return ignoreRules{all: true}
	}
	items, bad := hcl.ExprList(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		l.add(source.Failure(a.Expr.Range(), "Invalid ignore_changes",
			"It is a list of attributes of the config, such as [size, tags[\"x\"], disks[0].size], or the word all."))
		return ignoreRules{}
	}
	var out ignoreRules
	for _, item := range items {
		if t := l.t.Refs.AsAddress(item); t != nil {
			out.paths = append(out.paths, ignorePath{t, item.Range()})
			continue
		}
		l.add(source.Failure(item.Range(), "Not an attribute", "An element of ignore_changes names a part of the config, such as size, "+
			"tags[\"x\"] or disks[0].size."))
	}
	return out
}

// keys returns the steps of a path as tokens of a JSON pointer.
func (p ignorePath) keys() []string {
	keys := []string{p.steps.RootName()}
	for _, step := range p.steps[1:] {
		keys = append(keys, refs.ObjectKey(step))
	}
	return keys
}

// Pointers returns the JSON pointers of the ignored parts; "" = the whole config.
func (g ignoreRules) Pointers() []string {
	if g.all {
		return []string{""}
	}
	var list []string
	for _, p := range g.paths {
		list = append(list, jsondoc.JoinPointer(p.keys()))
	}
	return list
}

// Check returns an error for each path that does not exist in a config, as far as the config is known.
func (g ignoreRules) Check(config cty.Value) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, p := range g.paths {
		if d := p.check(config); d != nil {
			diags = append(diags, d)
		}
	}
	return diags
}

func (p ignorePath) check(config cty.Value) *hcl.Diagnostic {
	v, hidden := config, false
	for i, key := range p.keys() {
		hidden = hidden || v.HasMark(values.Sensitive{})
		v, _ = v.Unmark()
		if !v.IsKnown() || v.IsNull() {
			return nil
		}
		next, there := values.Part(v, key)
		if there {
			v = next
			continue
		}
		if i == 0 && key == "config" && len(p.steps) > 1 {
			rest := strings.TrimPrefix(refs.TraversalString(p.steps), "config")
			return source.Failure(p.at, "Unknown attribute", "The paths of ignore_changes begin in the config. Write %s.",
				strings.TrimPrefix(rest, "."))
		}
		where := "The config"
		if i > 0 {
			where = "In the config, " + refs.TraversalString(p.steps[:i])
		}
		if hidden {
			return source.Failure(p.at, "Unknown attribute", "%s has no %q. What it has is not shown, because it is sensitive. Only what "+
				"is written in the config can be ignored.", where, key)
		}
		names := values.PartNames(v)
		return source.Failure(p.at, "Unknown attribute", "%s has no %q: %s.%s Only what is written in the config can be ignored.", where,
			key, words.ThereAre(names), words.DidYouMean(key, names))
	}
	return nil
}

// Any reports whether any part is ignored.
func (g ignoreRules) Any() bool { return g.all || len(g.paths) > 0 }

// Keep replaces the ignored parts of a config by their last recorded values. changed
// holds the JSON pointers of the parts that differed.
func (g ignoreRules) Keep(config cty.Value, last *LastConfig) (kept cty.Value, changed []string) {
	before, err := values.FromJSON(last.Value)
	if err != nil {
		return config, nil // a config that cannot be decoded is not kept
	}
	before = values.MarkState(before, last.Sensitive)
	if g.all {
		if !values.Same(config, before) {
			changed = []string{""}
		}
		return before, changed
	}
	for _, p := range g.paths {
		keys := p.keys()
		next := values.KeepAt(config, before, keys)
		if !values.Same(next, config) {
			changed = append(changed, jsondoc.JoinPointer(keys))
		}
		config = next
	}
	slices.Sort(changed)
	return config, slices.Compact(changed)
}
