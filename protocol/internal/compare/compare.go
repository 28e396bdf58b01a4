package compare

import (
	"encoding/json"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"deployster/protocol/internal/jsonvalue"
	"deployster/protocol/internal/schema"
)

// Difference is a reason why a state does not match its config.
type Difference struct {
	Path    string          // JSON pointer into the config
	Have    json.RawMessage // the real value; none = it has none, or it is a secret
	Want    json.RawMessage // the value in the config
	Message string
}

// Result is the result of comparing a config with a state, field by field of the same JSON name.
type Result struct {
	Differences []Difference
	wanted      map[string]any // the values that the state will hold once it matches the config
	Unset       []string       // JSON pointers to members that will be unset or are unknown, and may then be missing or empty
}

// Forecast returns what is known of the state after the actions; nil = nothing.
func (c *Result) Forecast() any {
	if c == nil || len(c.wanted) == 0 {
		return nil
	}
	return c.wanted
}

// Compare compares what the user wrote, and the defaults in the config, with a state;
// nil stands for an object that does not exist. An optional field that the user leaves
// out must be unset in the state, unless it is marked as computed. A field that only
// one of the two types has is ignored: an id in the state, a password in the config.
func Compare[C any](written json.RawMessage, config C, unknown []string, state json.RawMessage,
	stateType reflect.Type) (*Result, error) {
	full, err := jsonvalue.Encode(config)
	if err != nil {
		return nil, err
	}
	var user, filled, have map[string]any
	for _, part := range []struct {
		raw  json.RawMessage
		into *map[string]any
	}{{written, &user}, {full, &filled}, {state, &have}} {
		if len(part.raw) > 0 {
			if err := jsonvalue.Decode(part.raw, part.into, false); err != nil {
				return nil, err
			}
		}
	}
	// The user may have written values that encoding/json leaves out: false, 0, "".
	want := maps.Clone(filled)
	for key, value := range user {
		if _, there := want[key]; !there && value != nil {
			want[key] = value
		}
	}
	members := schema.Members(reflect.TypeFor[C]())
	for name := range members {
		if _, there := want[name]; !there {
			want[name] = nil
		}
	}
	c := &Result{wanted: map[string]any{}}
	names := schema.FieldNames(stateType)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		got, there := have[key]
		f, known := members[key]
		if !there && !names[key] || want[key] == nil && (!known || f.Tag.Get(schema.ToolTag) == schema.ComputedTag) {
			continue
		}
		if holdsUnknown(key, unknown) {
			c.later(key, state != nil)
			continue
		}
		secret := f.Tag.Get("writeOnly") == "true"
		if !secret && certain(want[key]) {
			c.wanted[key] = want[key]
		}
		if state == nil || same(want[key], got, there, f.Type) {
			continue
		}
		if _, forecast := c.wanted[key]; !forecast { // otherwise the present value would be expected to stay
			c.Unset = append(c.Unset, "/"+jsonvalue.Escape(key))
		}
		c.Differences = append(c.Differences, differenceOf(key, want[key], got, there, secret))
	}
	return c, nil
}

// holdsUnknown reports whether a member, or a part of it, is not known yet.
func holdsUnknown(key string, unknown []string) bool {
	at := "/" + jsonvalue.Escape(key)
	return slices.ContainsFunc(unknown, func(pointer string) bool { return pointer == at || strings.HasPrefix(pointer, at+"/") })
}

// later adds the reason for a member whose value is not known yet, if the object exists.
func (c *Result) later(key string, there bool) {
	if !there {
		return
	}
	at := "/" + jsonvalue.Escape(key)
	c.Unset, c.Differences = append(c.Unset, at), append(c.Differences, Difference{Path: at, Message: "known only after other actions"})
}

// differenceOf returns the difference of a member that differs, without its values if it is a secret.
func differenceOf(key string, want, got any, there, secret bool) Difference {
	r := Difference{Path: "/" + jsonvalue.Escape(key)}
	if secret {
		return r
	}
	if want != nil {
		r.Want, _ = jsonvalue.Encode(want) // both came from JSON
	}
	if there {
		r.Have, _ = jsonvalue.Encode(got)
	}
	return r
}

// same reports whether a member of a state matches the config: nil requires it to be
// unset, and a missing member counts as empty.
func same(want, have any, there bool, t reflect.Type) bool {
	if want == nil {
		return empty(have)
	}
	return equal(want, have, t) || !there && empty(want)
}

// equal compares JSON values, the one from the config being of type t; nil = unknown.
// It compares numbers as numbers, and a missing value is null. The state may hold
// members that a struct does not have, but a map must hold exactly the members in the
// config.
func equal(want, have any, t reflect.Type) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		return (ok || have == nil && len(w) == 0) && equalMembers(w, h, t)
	case []any:
		h, ok := have.([]any)
		return (ok || have == nil) && len(w) == len(h) && equalItems(w, h, schema.Element(t))
	case json.Number:
		h, ok := have.(json.Number)
		return ok && (w == h || sameNumber(w.String(), h.String()))
	}
	return want == have
}

func equalMembers(want, have map[string]any, t reflect.Type) bool {
	if members := schema.Members(t); members != nil {
		for name, f := range members {
			got, there := have[name]
			if !same(want[name], got, there, f.Type) && (want[name] != nil || f.Tag.Get(schema.ToolTag) != schema.ComputedTag) {
				return false
			}
		}
		return true
	}
	for key, value := range want {
		if value != nil && !equal(value, have[key], schema.Element(t)) {
			return false
		}
	}
	for key, value := range have {
		if value != nil && want[key] == nil {
			return false
		}
	}
	return true
}

func equalItems(want, have []any, t reflect.Type) bool {
	for i := range want {
		if !equal(want[i], have[i], t) {
			return false
		}
	}
	return true
}

// empty reports whether encoding/json may leave a value out.
func empty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return sameNumber(v.String(), "0")
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return v == nil
}

// certain reports whether a state that matches the config holds this very value:
// false if a part of the value may be left out.
func certain(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(item any) bool {
			_, nested := item.(map[string]any)
			return item == nil || nested && !certain(item)
		})
	case map[string]any:
		for _, inner := range v {
			if !certain(inner) {
				return false
			}
		}
	}
	return !empty(v)
}

// maxExponent is the number of digits of an exponent beyond which numbers are compared
// only as texts: deployster sends no larger ones, and they would take unbounded memory.
const maxExponent = 4

func sameNumber(a, b string) bool {
	for _, n := range []string{a, b} {
		if i := strings.IndexAny(n, "eE"); i >= 0 && len(strings.TrimLeft(n[i+1:], "+-0")) > maxExponent {
			return false
		}
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok && ok2 && x.Cmp(y) == 0
}
