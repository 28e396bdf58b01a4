package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// errUnread reports that reading failed; explain then finds out what is invalid.
var errUnread = errors.New("not read")

// Value decodes a document into maps, slices, strings, bools and json.Number, and checks
// it at the same time.
func Value(data []byte) (any, error) { return value(data, foreign()) }

func value(data []byte, within limits) (any, error) {
	r := valueReader{left: within}
	if !decoded(data, r.read) {
		return nil, explain(data, within)
	}
	return r.whole, nil
}

// decoder is one with its input. It is used again for the next document: to make one costs more than to read a small document.
type decoder struct {
	*jsontext.Decoder
	input bytes.Buffer
}

var idle = sync.Pool{New: func() any {
	d := &decoder{}
	d.Decoder = jsontext.NewDecoder(&d.input)
	return d
}}

// decoded reports whether read has read one document, after which nothing follows.
func decoded(data []byte, read func(*jsontext.Decoder) error) bool {
	d := idle.Get().(*decoder)
	d.input = *bytes.NewBuffer(data)
	d.Reset(&d.input)
	ok := read(d.Decoder) == nil && len(bytes.TrimLeft(data[d.InputOffset():], " \t\r\n")) == 0
	d.input = bytes.Buffer{}
	d.Reset(&d.input)
	idle.Put(d)
	return ok
}

// valueReader reads one document in one pass. It stops at the first error, and explain
// then describes it.
type valueReader struct {
	dec   *jsontext.Decoder
	left  limits
	whole any // the result
}

func (r *valueReader) read(dec *jsontext.Decoder) error {
	r.dec = dec
	whole, ok := r.value()
	if r.whole = whole; !ok {
		return errUnread
	}
	return nil
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

// Object decodes one object into its members, with exact-case keys, and checks the document at
// the same time. The members share the memory of data, which must not be changed.
func Object(data []byte) (map[string]json.RawMessage, error) { return object(data, foreign()) }

// OwnObject is Object for a document that deployster has written; see CheckOwn.
func OwnObject(data []byte) (map[string]json.RawMessage, error) { return object(data, own()) }

// OwnObjects is OwnObject that opens one member in the same pass: if it is an object, its members are
// inside, and it is not among members; otherwise inside is nil.
func OwnObjects(data []byte, open string) (members, inside map[string]json.RawMessage, err error) {
	r := memberReader{data: data, open: open}
	members, err = r.all(own())
	return members, r.inside, err
}

func object(data []byte, within limits) (map[string]json.RawMessage, error) {
	return (&memberReader{data: data}).all(within)
}

// memberReader reads the members of an object, each value a part of data.
type memberReader struct {
	data            []byte
	open            string // the member whose members are read too; "" = none
	members, inside map[string]json.RawMessage
}

func (r *memberReader) all(within limits) (map[string]json.RawMessage, error) {
	if decoded(r.data, r.read) && within.allow(r.data) {
		return r.members, nil
	}
	if err := explain(r.data, within); err != nil {
		return nil, err
	}
	if kind := KindOf(r.data); kind != "an object" {
		return nil, &SyntaxError{Message: fmt.Sprintf("it is %s, and must be an object", kind)}
	}
	return r.members, nil
}

func (r *memberReader) read(dec *jsontext.Decoder) (err error) {
	r.members, err = r.object(dec, r.open)
	return err
}

func (r *memberReader) object(dec *jsontext.Decoder, open string) (map[string]json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if begin, err := dec.ReadToken(); err != nil || begin.Kind() != '{' {
		return members, errUnread
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return members, err
		}
		key := name.String()
		if key == open && open != "" && dec.PeekKind() == '{' {
			if r.inside, err = r.object(dec, ""); err != nil {
				return members, err
			}
			continue
		}
		value, err := dec.ReadValue()
		if err != nil {
			return members, err
		}
		end := int(dec.InputOffset())
		members[key] = json.RawMessage(r.data[end-len(value) : end : end])
	}
	_, err := dec.ReadToken()
	return members, err
}

// Text returns the text of a JSON string that was checked, and "" for any other value.
func Text(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // it was checked
	return string(text)
}

// Read decodes one value of others, all of whose keys must be known. It checks the
// document first.
func Read(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return DecodeStrict(data, into)
}

// DecodeStrict decodes one value that deployster has written, all of whose keys must be
// known, by the rules of encoding/json.
func DecodeStrict(data []byte, into any) error {
	return jsonv2.Unmarshal(data, into, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
}
