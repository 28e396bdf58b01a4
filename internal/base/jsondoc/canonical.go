package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Canonical gives the one form of a document that equal documents share: keys
// sorted, no spaces, nothing escaped that need not be, every digit as it was.
// The document is checked first.
func Canonical(data []byte) (json.RawMessage, error) { return canonicalWithin(data, foreign()) }

// CanonicalOwn is Canonical of what this tool has written itself; see CheckOwn.
func CanonicalOwn(data []byte) (json.RawMessage, error) { return canonicalWithin(data, own()) }

func canonicalWithin(data []byte, within bounds) (json.RawMessage, error) {
	switch sound, canonical := scanWithin(data, within); {
	case sound && canonical:
		return bytes.Clone(data), nil
	case sound:
		return inOrder(data), nil
	}
	v, err := valueWithin(data, within)
	if err != nil {
		return nil, err
	}
	return Encode(v)
}

// IsCanonical reports whether a document is surely in that form already.
func IsCanonical(data []byte) bool {
	sound, canonical := scan(data)
	return sound && canonical
}

// Encode writes a value compactly and without escaping HTML. Maps come out
// with sorted keys.
func Encode(v any) (json.RawMessage, error) {
	var b taken
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(json.RawMessage(b), []byte("\n")), nil
}

// taken is what was written. An encoder writes all at once, so it has no room to
// spare.
type taken []byte

func (t *taken) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	return len(p), nil
}

// AppendText writes a text as a JSON string, as Encode does.
func AppendText(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			encoded, _ := Encode(text) // a string always has a JSON form
			return append(to, encoded...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// Value reads a document into maps, slices, strings, bools and json.Number.
// The document is checked first.
func Value(data []byte) (any, error) {
	if sound, _ := scan(data); sound {
		return read(data), nil
	}
	return valueWithin(data, foreign())
}

// valueWithin is Value of a document that is unusual or wrong.
func valueWithin(data []byte, within bounds) (any, error) {
	if err := examine(data, within); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// Object reads one object into its members, with exact-case keys. The document
// is checked first. The members are parts of it, which is not to be changed.
func Object(data []byte) (map[string]json.RawMessage, error) { return objectWithin(data, foreign()) }

// OwnObject is Object of what this tool has written itself; see CheckOwn.
func OwnObject(data []byte) (map[string]json.RawMessage, error) {
	return objectWithin(data, own())
}

func objectWithin(data []byte, within bounds) (map[string]json.RawMessage, error) {
	sound, _ := scanWithin(data, within)
	if !sound {
		if err := examine(data, within); err != nil {
			return nil, err
		}
	}
	if kind := KindOf(data); kind != "an object" {
		return nil, &SyntaxError{Message: fmt.Sprintf("it is %s, and must be an object", kind)}
	}
	m := map[string]json.RawMessage{}
	if sound {
		members(data, func(key string, value json.RawMessage) { m[key] = value })
		return m, nil
	}
	err := json.Unmarshal(data, &m)
	return m, err
}

// KindOf says what a value is, for messages: "an object", "a string", ...
func KindOf(data []byte) string {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "nothing"
	}
	switch data[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
