package ignore

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

// Rules are the parts of a config whose changes are ignored.
type Rules struct {
	All   bool // the whole config
	Paths []Path
}

// Path is one ignored part.
type Path struct {
	Steps hcl.Traversal // from the root of the config
	At    hcl.Range
}

// keys returns the steps of a path as tokens of a JSON pointer.
func (p Path) keys() []string {
	keys := []string{p.Steps.RootName()}
	for _, step := range p.Steps[1:] {
		keys = append(keys, refs.ObjectKey(step))
	}
	return keys
}

// Pointers returns the JSON pointers of the ignored parts; "" = the whole config.
func (g Rules) Pointers() []string {
	if g.All {
		return []string{""}
	}
	var list []string
	for _, p := range g.Paths {
		list = append(list, jsondoc.JoinPointer(p.keys()))
	}
	return list
}

// Check returns an error for each path that does not exist in a config, as far as the config is known.
func (g Rules) Check(config cty.Value) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, p := range g.Paths {
		if d := p.check(config); d != nil {
			diags = append(diags, d)
		}
	}
	return diags
}

func (p Path) check(config cty.Value) *hcl.Diagnostic {
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
		if i == 0 && key == "config" && len(p.Steps) > 1 {
			rest := strings.TrimPrefix(refs.TraversalString(p.Steps), "config")
			return source.Failure(p.At, "Unknown attribute", "The paths of ignore_changes begin in the config. Write %s.",
				strings.TrimPrefix(rest, "."))
		}
		where := "The config"
		if i > 0 {
			where = "In the config, " + refs.TraversalString(p.Steps[:i])
		}
		if hidden {
			return source.Failure(p.At, "Unknown attribute", "%s has no %q. What it has is not shown, because it is sensitive. Only what "+
				"is written in the config can be ignored.", where, key)
		}
		names := values.PartNames(v)
		return source.Failure(p.At, "Unknown attribute", "%s has no %q: %s.%s Only what is written in the config can be ignored.", where,
			key, words.ThereAre(names), words.DidYouMean(key, names))
	}
	return nil
}

// Any reports whether any part is ignored.
func (g Rules) Any() bool { return g.All || len(g.Paths) > 0 }

// Keep replaces the ignored parts of a config by their last recorded values. changed
// holds the JSON pointers of the parts that differed.
func (g Rules) Keep(config cty.Value, last *LastConfig) (kept cty.Value, changed []string) {
	before, err := values.FromJSON(last.Value)
	if err != nil {
		return config, nil // a config that cannot be decoded is not kept
	}
	before = values.MarkState(before, last.Sensitive)
	if g.All {
		if !values.Same(config, before) {
			changed = []string{""}
		}
		return before, changed
	}
	for _, p := range g.Paths {
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
