package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/plan"
	"deployster/protocol"
)

// Difference is one value that differs from what the plan showed.
type Difference struct {
	What  string          `json:"what"`            // "status", "state", "config", "reasons", "shutdown_first" or "actions"
	Path  string          `json:"path,omitempty"`  // a JSON pointer into the state or the config
	Shown json.RawMessage `json:"shown,omitempty"` // omitted when there was none
	Found json.RawMessage `json:"found,omitempty"`
}

// Secrets are what a difference must not show: the values at pointers into both documents, and
// what Hide masks in a text; nil = nothing.
type Secrets struct {
	Hidden []string
	Hide   func(text string) string
}

// Answers lists how an answer differs from the one that the plan showed. The secrets are
// those of both states.
func Answers(step *plan.Step, found protocol.Answer, secrets Secrets) []Difference {
	var list []Difference
	add := func(what string, shown, found any) {
		if a, b := encoded(shown), encoded(found); string(a) != string(b) {
			list = append(list, Difference{What: what, Shown: a, Found: b})
		}
	}
	add("status", step.Answered(), found.Status)
	was, is := step.Answer().Stale, found.StaleState
	if step.Answer().State != nil {
		was = step.Answer().State
	}
	if found.State != nil {
		is = found.State
	}
	list = append(list, Documents("state", was, is, secrets)...)
	add("reasons", reasons(step.Answer().Reasons), reasons(found.Reasons))
	add("shutdown_first", spellOne(step.Answer().Shutdown), spellOne(found.ShutdownFirst))
	add("actions", spellEach(step.Answer().Actions), spellEach(found.Actions))
	return list
}

// Documents lists the values in which two JSON documents differ.
func Documents(what string, shown, found json.RawMessage, secrets Secrets) []Difference {
	hidden := secrets.Hidden
	s, _ := jsondoc.Value(secret.Mask(shown, hidden)) // what is not valid JSON counts as nothing
	f, _ := jsondoc.Value(secret.Mask(found, hidden))
	c := comparison{what: what, hide: secrets.Hide}
	c.compare("", s, f)
	for _, pointer := range hidden {
		if c.covers(pointer) || same(shown, found, pointer) {
			continue
		}
		c.list = append(c.list, Difference{What: what, Path: pointer, Shown: encoded(secret.Masked), Found: encoded(secret.Masked)})
	}
	slices.SortStableFunc(c.list, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return c.list
}

// comparison walks two documents.
type comparison struct {
	what string
	hide func(text string) string
	list []Difference
}

func (c *comparison) compare(path string, shown, found any) {
	shown, found = likewise(shown, found), likewise(found, shown)
	switch s := shown.(type) {
	case map[string]any:
		if f, ok := found.(map[string]any); ok {
			keys := maps.Clone(s)
			maps.Copy(keys, f)
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				c.compare(path+jsondoc.JoinPointer([]string{k}), s[k], f[k])
			}
			return
		}
	case []any:
		if f, ok := found.([]any); ok && len(f) == len(s) {
			for i := range s {
				c.compare(path+"/"+strconv.Itoa(i), s[i], f[i])
			}
			return
		}
	}
	if a, b := encoded(shown), encoded(found); string(a) != string(b) {
		a, b = c.focused(a, b)
		c.list = append(c.list, Difference{What: c.what, Path: path, Shown: a, Found: b})
	}
}

// likewise returns v, or an empty object for nothing beside an object, so that each
// value of that object gets its own line.
func likewise(v, beside any) any {
	if m, ok := beside.(map[string]any); ok && v == nil && len(m) > 0 {
		return map[string]any{}
	}
	return v
}

// covers reports whether a difference at the pointer or around it is listed.
func (c *comparison) covers(pointer string) bool {
	return slices.ContainsFunc(c.list, func(d Difference) bool {
		return d.Path == pointer || strings.HasPrefix(pointer, d.Path+"/")
	})
}

// same reports whether two documents have the same value at a pointer.
func same(a, b json.RawMessage, pointer string) bool {
	return string(encoded(at(a, pointer))) == string(encoded(at(b, pointer)))
}

// at returns the value at a pointer; nil = none.
func at(doc json.RawMessage, pointer string) any {
	v, _ := jsondoc.Value(doc)
	return jsondoc.At(v, jsondoc.Pointer(pointer))
}

// encoded returns the JSON of a value; nil for null.
func encoded(v any) json.RawMessage {
	raw, err := jsondoc.Encode(v)
	if err != nil || string(raw) == "null" {
		return nil
	}
	return raw
}

// The part of a long value that a difference quotes.
const (
	quoteBytes = 1000
	leadBytes  = 20 // of the equal part before the first difference
)

// focused shortens two values: a long one becomes a text with the part where the two
// begin to differ. Secrets are hidden first: they are not recognised in a part.
func (c *comparison) focused(a, b json.RawMessage) (json.RawMessage, json.RawMessage) {
	if len(a) <= quoteBytes && len(b) <= quoteBytes {
		return a, b
	}
	if c.hide != nil {
		a, b = json.RawMessage(c.hide(string(a))), json.RawMessage(c.hide(string(b)))
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	from = max(0, from-leadBytes)
	return excerpt(a, from), excerpt(b, from)
}

func excerpt(raw json.RawMessage, from int) json.RawMessage {
	if len(raw) <= quoteBytes {
		return raw
	}
	piece := string(raw[min(from, len(raw)):min(from+quoteBytes, len(raw))])
	if from > 0 {
		piece = "..." + piece
	}
	return encoded(strings.ToValidUTF8(piece, "") + fmt.Sprintf("... (%d bytes)", len(raw)))
}

// reasons returns the image's reasons in words.
func reasons(list []protocol.Reason) []string {
	var words []string
	for _, r := range list {
		word := strings.TrimSpace(r.Path + " " + r.Message)
		if r.Message == "" {
			word = strings.TrimSpace(r.Path + " " + string(r.Have) + " -> " + string(r.Want))
		}
		words = append(words, word)
	}
	return words
}

func spellOne(a *protocol.Action) any {
	if a == nil {
		return nil
	}
	return Spell([]protocol.Action{*a})
}

func spellEach(actions []protocol.Action) []string {
	var words []string
	for _, a := range actions {
		words = append(words, Spell([]protocol.Action{a}))
	}
	return words
}

// Spell writes actions as short as possible so that different ones can be distinguished.
func Spell(actions []protocol.Action) string {
	words := make([]string, len(actions))
	for i, a := range actions {
		parts := []string{a.Name}
		if a.Image != "" {
			parts = append(parts, "image="+a.Image)
		}
		if a.Entrypoint != "" {
			parts = append(parts, "entrypoint="+a.Entrypoint)
		}
		if len(a.Args) > 0 {
			parts = append(parts, fmt.Sprintf("args=%q", a.Args))
		}
		if a.Destructive {
			parts = append(parts, "(destroys what exists)")
		}
		words[i] = strings.Join(parts, " ")
	}
	return strings.Join(words, ", ")
}
