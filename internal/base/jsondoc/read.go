package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Value reads a document into maps, slices, strings, bools and json.Number.
// The document is checked first.
func Value(data []byte) (any, error) { return value(data, foreign()) }

func value(data []byte, within limits) (v any, err error) {
	if err := check(data, within); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// Object reads one object into its members, with exact-case keys. The document
// is checked first. The members are parts of it, which is not to be changed.
func Object(data []byte) (map[string]json.RawMessage, error) { return object(data, foreign()) }

// OwnObject is Object of what this tool has written itself; see CheckOwn.
func OwnObject(data []byte) (map[string]json.RawMessage, error) { return object(data, own()) }

func object(data []byte, within limits) (map[string]json.RawMessage, error) {
	if err := check(data, within); err != nil {
		return nil, err
	}
	if kind := KindOf(data); kind != "an object" {
		return nil, &SyntaxError{Message: fmt.Sprintf("it is %s, and must be an object", kind)}
	}
	m := map[string]json.RawMessage{}
	for key, value := range members(data) {
		m[key] = value
	}
	return m, nil
}

// members are those of an object that was checked, in their order, each value a
// part of data.
func members(data []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true)) // was looked for
		_, err := dec.ReadToken()
		for err == nil && dec.PeekKind() == '"' {
			var name jsontext.Token
			if name, err = dec.ReadToken(); err != nil {
				return
			}
			key := name.String()
			var value jsontext.Value
			if value, err = dec.ReadValue(); err != nil {
				return
			}
			end := int(dec.InputOffset())
			if !yield(key, json.RawMessage(data[end-len(value):end:end])) {
				return
			}
		}
	}
}

// Text returns the text of a string that was checked, "" of what is none.
func Text(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // it was checked
	return string(text)
}

// DecodeStrict decodes one value of ours, all of whose keys must be known, as
// encoding/json does.
func DecodeStrict(data []byte, into any) error {
	return jsonv2.Unmarshal(data, into, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
}
