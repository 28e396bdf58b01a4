package operating

import (
	"encoding/json"
	"iter"
	"maps"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
)

// Value is one value of an input: KEY=VALUE.
type Value struct{ Key, Text string }

// ReadValues reads the values of -set.
func ReadValues(texts []string) (list []Value, err error) {
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, diag.Errorf("Invalid flag value", "-set takes KEY=VALUE, and not %q.", diag.Visible(text))
		}
		list = append(list, Value{key, value})
	}
	return list, nil
}

// inputOf returns the input that values make. A value is JSON where its schema names another type than string; otherwise it is text.
func inputOf(schema json.RawMessage, values []Value) (json.RawMessage, error) {
	var of struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &of) // a schema of another form names no types
	input := map[string]any{}
	for _, v := range values {
		kind, typed := of.Properties[v.Key]
		var parsed any
		switch err := json.Unmarshal([]byte(v.Text), &parsed); {
		case typed && kind.Type == "string":
			parsed = v.Text
		case err != nil && typed && kind.Type != nil:
			return nil, diag.Errorf("Invalid input", "-set %s=%s: the operation takes a value of the type %v there, as JSON.", v.Key,
				diag.Visible(v.Text), kind.Type)
		case err != nil:
			parsed = v.Text
		}
		input[v.Key] = parsed
	}
	return jsondoc.Encode(input)
}

// keys returns the keys of a map.
func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
