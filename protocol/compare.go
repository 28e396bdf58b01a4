package protocol

import (
	"encoding/json"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// comparison holds a config to a state, field by field of the same JSON name.
type comparison struct {
	reasons []Reason
	wanted  map[string]any // what the state will hold once it is right
}

// forecast is what is known of the state to be; nil = nothing.
func (c *comparison) forecast() any {
	if c == nil || len(c.wanted) == 0 {
		return nil
	}
	return c.wanted
}

// compare looks at what the user wrote and at what stands in the config by
// default; a state that is not there yet is empty. What only one of the two has
// is nobody's business: an id in the state, a password in the config.
func compare[C any](written json.RawMessage, config C, state json.RawMessage, stateType reflect.Type) (*comparison, error) {
	full, err := encode(config)
	if err != nil {
		return nil, err
	}
	var user, filled, have map[string]any
	for _, part := range []struct {
		raw  json.RawMessage
		into *map[string]any
	}{{written, &user}, {full, &filled}, {state, &have}} {
		if len(part.raw) > 0 {
			if err := decode(part.raw, part.into, false); err != nil {
				return nil, err
			}
		}
	}
	// The user may have written what encoding leaves out: false, 0, "".
	want := maps.Clone(filled)
	for key, value := range user {
		if _, there := want[key]; !there && value != nil {
			want[key] = value
		}
	}
	secret := writeOnlyFields(reflect.TypeFor[C]())
	c := &comparison{wanted: map[string]any{}}
	names := fieldNames(stateType)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		got, there := have[key]
		if want[key] == nil || !there && !names[key] {
			continue
		}
		if !secret[key] && certain(want[key]) {
			c.wanted[key] = want[key]
		}
		if state != nil && !equal(want[key], got) && (there || !empty(want[key])) {
			r := Reason{Path: "/" + escape(key)}
			if !secret[key] {
				r.Want, _ = encode(want[key]) // both came from JSON
				if there {
					r.Have, _ = encode(got)
				}
			}
			c.reasons = append(c.reasons, r)
		}
	}
	return c, nil
}

// equal compares JSON values. Numbers are compared as numbers; what is not
// there is as null; an object may hold more than is wanted.
func equal(want, have any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		for key, value := range w {
			if !ok || value != nil && !equal(value, h[key]) {
				return false
			}
		}
		return ok
	case []any:
		h, ok := have.([]any)
		return (ok || have == nil) && len(w) == len(h) && equalItems(w, h)
	case json.Number:
		h, ok := have.(json.Number)
		return ok && (w == h || sameNumber(w.String(), h.String()))
	}
	return want == have
}

func equalItems(want, have []any) bool {
	for i := range want {
		if !equal(want[i], have[i]) {
			return false
		}
	}
	return true
}

// empty reports whether a value is one that encoding may leave out.
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

// certain reports whether a state that is right holds this very value: not when a
// part of it may be left out.
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

// maxExponent is where numbers are compared as texts only: deployster sends no
// larger ones, and they would take memory without end.
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
