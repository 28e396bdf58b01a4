package jsondoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the one form that equal documents share: keys sorted, no spaces, only
// necessary escapes, every digit unchanged. It checks the document first.
func Canonical(data []byte) (json.RawMessage, error) { return canonical(data, foreign()) }

// Same reports whether two documents have the same canonical form. Text that is not JSON
// is the same only as itself.
func Same(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	left, err := Canonical(a)
	if err != nil {
		return false
	}
	right, err := Canonical(b)
	return err == nil && string(left) == string(right)
}

// SameValue reports whether two values have the same JSON encoding.
func SameValue(a, b any) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && string(left) == string(right)
}

// CanonicalOwn is Canonical for a document that deployster has written; see CheckOwn.
func CanonicalOwn(data []byte) (json.RawMessage, error) { return canonical(data, own()) }

func canonical(data []byte, within limits) (json.RawMessage, error) {
	if beyondUTF16(data) {
		v, err := value(data, within)
		if err != nil {
			return nil, err
		}
		return Encode(v)
	}
	out, err := jsontext.AppendFormat(make([]byte, 0, len(data)), data, jsontext.ReorderRawObjects(true), jsontext.EscapeForJS(true))
	if err != nil || !within.allow(data) {
		if err = cmp.Or(explain(data, within), err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// beyondUTF16 reports whether a document may have characters, also escaped ones, that UTF-16, by which jsontext sorts keys,
// sorts differently than UTF-8, by which the canonical form does.
func beyondUTF16(data []byte) bool {
	return slices.ContainsFunc(data, func(b byte) bool { return b >= 0xf0 }) ||
		bytes.Contains(data, []byte(`\ud`)) || bytes.Contains(data, []byte(`\uD`))
}

// Encode encodes a value compactly and without escaping HTML. The keys of maps are
// sorted.
func Encode(v any) (json.RawMessage, error) {
	var b taken
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(json.RawMessage(b), []byte("\n")), nil
}

// taken is a buffer without spare capacity: an encoder writes everything at once.
type taken []byte

func (t *taken) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	return len(p), nil
}

// AppendText appends a text as a JSON string, in the form of Encode.
func AppendText(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			encoded, _ := Encode(text) // a string always has a JSON form
			return append(to, encoded...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}
