package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// decoders are kept for the next document: to make one costs as much as to read a small
// document with it.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

func decoder(data []byte) *jsontext.Decoder {
	dec := decoders.Get().(*jsontext.Decoder)
	dec.Reset(bytes.NewBuffer(data))
	return dec
}

// Value reads a document into maps, slices, strings, bools and json.Number.
// The document is checked meanwhile.
func Value(data []byte) (any, error) { return value(data, foreign()) }

func value(data []byte, within limits) (any, error) {
	r := valueReader{dec: decoder(data), left: within}
	defer decoders.Put(r.dec)
	if v, ok := r.value(); ok && atEnd(r.dec) {
		return v, nil
	}
	return nil, explain(data, within)
}

// valueReader reads one document in one pass. At the first thing that is wrong it ends,
// and leaves it to explain to say what that is.
type valueReader struct {
	dec  *jsontext.Decoder
	left limits
}

func (r *valueReader) value() (v any, ok bool) {
	token, err := r.dec.ReadToken()
	if r.left.values--; err != nil || r.left.values < 0 {
		return nil, false
	}
	switch token.Kind() {
	case '{', '[':
		if r.left.depth--; r.left.depth < 0 {
			return nil, false
		}
		if token.Kind() == '{' {
			v, ok = r.members()
		} else {
			v, ok = r.elements()
		}
		r.left.depth++
		return v, ok
	case '"':
		return token.String(), true
	case '0':
		number := token.String()
		return json.Number(number), checkNumber(number) == ""
	case 't', 'f':
		return token.Bool(), true
	}
	return nil, token.Kind() == 'n'
}

func (r *valueReader) members() (map[string]any, bool) {
	object := map[string]any{}
	for r.dec.PeekKind() == '"' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		v, ok := r.value()
		if !ok {
			return nil, false
		}
		object[key] = v
	}
	_, err := r.dec.ReadToken()
	return object, err == nil
}

func (r *valueReader) elements() ([]any, bool) {
	list := []any{}
	for r.dec.PeekKind() != ']' {
		v, ok := r.value()
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	_, err := r.dec.ReadToken()
	return list, err == nil
}

// atEnd reports whether nothing follows what was read.
func atEnd(dec *jsontext.Decoder) bool {
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF)
}

// Object reads one object into its members, with exact-case keys. The document
// is checked meanwhile. The members are parts of it, which is not to be changed.
func Object(data []byte) (map[string]json.RawMessage, error) { return object(data, foreign()) }

// OwnObject is Object of what this tool has written itself; see CheckOwn.
func OwnObject(data []byte) (map[string]json.RawMessage, error) { return object(data, own()) }

func object(data []byte, within limits) (map[string]json.RawMessage, error) {
	m, ok := members(data)
	if ok && within.allow(data) {
		return m, nil
	}
	if err := explain(data, within); err != nil {
		return nil, err
	}
	if kind := KindOf(data); kind != "an object" {
		return nil, &SyntaxError{Message: fmt.Sprintf("it is %s, and must be an object", kind)}
	}
	return m, nil
}

// members are those of an object, each value a part of data. It reports whether data
// is one, and nothing more.
func members(data []byte) (map[string]json.RawMessage, bool) {
	dec := decoder(data)
	defer decoders.Put(dec)
	if begin, err := dec.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil, false
	}
	m := map[string]json.RawMessage{}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		end := int(dec.InputOffset())
		m[key] = json.RawMessage(data[end-len(value) : end : end])
	}
	_, err := dec.ReadToken()
	return m, err == nil && atEnd(dec)
}

// Text returns the text of a string that was checked, "" of what is none.
func Text(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // it was checked
	return string(text)
}

// Read decodes one value that others have made, all of whose keys must be known. The
// document is checked first.
func Read(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return DecodeStrict(data, into)
}

// DecodeStrict decodes one value of ours, all of whose keys must be known, as
// encoding/json does.
func DecodeStrict(data []byte, into any) error {
	return jsonv2.Unmarshal(data, into, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
}
