package jsondoc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical gives the one form of a document that equal documents share: keys
// sorted, no spaces, nothing escaped that need not be, every digit as it was.
// The document is checked first.
func Canonical(data []byte) (json.RawMessage, error) { return canonical(data, foreign()) }

// Same compares two documents by what they say. What is no JSON is like nothing but
// itself.
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

// SameValue compares two values by what is written of them.
func SameValue(a, b any) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && string(left) == string(right)
}

// CanonicalOwn is Canonical of what this tool has written itself; see CheckOwn.
func CanonicalOwn(data []byte) (json.RawMessage, error) { return canonical(data, own()) }

func canonical(data []byte, within limits) (json.RawMessage, error) {
	if err := check(data, within); err != nil {
		return nil, err
	}
	if bytes.IndexFunc(data, beyondUTF16) >= 0 {
		v, err := value(data, within)
		if err != nil {
			return nil, err
		}
		return Encode(v)
	}
	return jsontext.AppendFormat(make([]byte, 0, len(data)), data, jsontext.ReorderRawObjects(true), jsontext.EscapeForJS(true))
}

// beyondUTF16 reports whether a character is sorted differently in UTF-16, by which
// jsontext sorts, than in UTF-8, by which the canonical form does.
func beyondUTF16(r rune) bool { return r > 0xffff }

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
