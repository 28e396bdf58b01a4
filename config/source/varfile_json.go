package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/values"
	"deployster/internal/base/jsondoc"
)

// jsonVars parses a variable file in JSON.
func jsonVars(data []byte, shown string) ([]VarInput, hcl.Diagnostics) {
	if len(data) == 0 {
		return nil, hcl.Diagnostics{Failure(fileStart(shown), "Not a variable file",
			"It is empty; a JSON variable file holds one object: { \"NAME\": VALUE }.")}
	}
	items, err := jsondoc.Object(data)
	if err != nil {
		at := fileStart(shown)
		var se *jsondoc.SyntaxError
		if errors.As(err, &se) {
			at = rangeAt(data, shown, int(se.Offset), int(se.Offset))
		}
		return nil, hcl.Diagnostics{Failure(at, "Not a variable file", "It is not a JSON object { \"NAME\": VALUE }: %s.", err)}
	}
	var out []VarInput
	var diags hcl.Diagnostics
	places := jsonMembers(data)
	for _, name := range slices.Sorted(maps.Keys(items)) {
		place := places[name]
		at := rangeAt(data, shown, place.key[0], place.value[1])
		value, err := values.FromJSON(items[name])
		if err != nil {
			diags = append(diags, Failure(at, "Not a variable file", "The value of %q cannot be read: %s.", name, err))
			continue
		}
		in := fileVar(name, value, data, at)
		in.within = func(steps []string) hcl.Range {
			part := jsonPart(data, place.value, steps)
			return rangeAt(data, shown, part[0], part[1])
		}
		out = append(out, in)
	}
	return out, diags
}

// span is a beginning and an end, as byte offsets.
type span [2]int

// member is the place of a member of an object or array. The key of an array's member
// is the place of its value.
type member struct{ key, value span }

// jsonMembers returns the places of the members of a JSON object or array with valid
// syntax. Those of an array are named by their index.
func jsonMembers(data []byte) map[string]member {
	out := map[string]member{}
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	for i := 0; err == nil && dec.More(); i++ {
		name, key, value := strconv.Itoa(i), span{}, json.RawMessage{}
		if open == json.Delim('{') {
			before := int(dec.InputOffset())
			token, _ := dec.Token()
			name, _ = token.(string)
			key = span{before + bytes.IndexByte(data[before:], '"'), int(dec.InputOffset())}
		}
		if err = dec.Decode(&value); err == nil {
			end := int(dec.InputOffset())
			m := member{key, span{end - len(value), end}}
			if open != json.Delim('{') {
				m.key = m.value
			}
			out[name] = m
		}
	}
	return out
}

// jsonPart follows steps into the value at a span, as far as they exist.
func jsonPart(data []byte, at span, steps []string) span {
	for _, step := range steps {
		m, ok := jsonMembers(data[at[0]:at[1]])[step]
		if !ok {
			break
		}
		at = span{at[0] + m.value[0], at[0] + m.value[1]}
	}
	return at
}

// rangeAt converts byte offsets to a range.
func rangeAt(data []byte, name string, start, end int) hcl.Range {
	return hcl.Range{Filename: name, Start: posAt(data, start), End: posAt(data, end)}
}

func posAt(data []byte, offset int) hcl.Pos {
	offset = min(max(offset, 0), len(data))
	line := bytes.LastIndexByte(data[:offset], '\n') + 1
	return hcl.Pos{Byte: offset, Line: 1 + bytes.Count(data[:offset], []byte{'\n'}), Column: 1 + utf8.RuneCount(data[line:offset])}
}
