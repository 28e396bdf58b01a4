package testprovider

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// ReadRecord reads what was written down. What was said several times is there once.
func ReadRecord(text []byte) (map[string][]string, error) {
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		var r Request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, errors.New("a line of the record cannot be read: " + line)
		}
		key := r.Kind + " " + r.Label + " " + r.Call
		said := ""
		for _, name := range slices.Sorted(maps.Keys(r.Values)) {
			said += "\n    " + name + ": " + r.Values[name]
		}
		if !slices.Contains(out[key], said) {
			out[key] = append(out[key], said)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out, nil
}
