package jsondoc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Members visits the members of one object in their order, without reading what
// they hold. It is not ok when data is not surely one sound
// object, and has visited none then: Check says why. Values are parts of data.
func Members(data []byte, visit func(key string, value json.RawMessage)) (ok bool) {
	sound, _ := scan(data)
	if data = bytes.TrimLeft(data, " \t\r\n"); !sound || data[0] != '{' {
		return false
	}
	members(data, visit)
	return true
}

// members is Members of an object that scan has accepted.
func members(data []byte, visit func(key string, value json.RawMessage)) {
	w := walker{data: data}
	w.space()
	w.at++
	for w.space() != '}' {
		start := w.at
		w.text()
		key := unquote(data[start:w.at])
		w.space()
		w.at++ // the colon
		w.space()
		start = w.at
		w.skip()
		visit(key, json.RawMessage(data[start:w.at:w.at]))
		if w.space() == ',' {
			w.at++
		}
	}
}

// Text gives the text of a string that Check has accepted, "" of what is none.
func Text(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return unquote(raw)
}

// walker goes over a document that scan has accepted, so nothing in it can be
// wrong any more.
type walker struct {
	data []byte
	at   int
}

// space gives the next byte that is none.
func (w *walker) space() byte {
	for {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
}

// text goes over a string.
func (w *walker) text() { w.at = literalEnd(w.data, w.at) }

// plain goes over a number or a word.
func (w *walker) plain() {
	for w.at < len(w.data) && strings.IndexByte(",]} \t\r\n", w.data[w.at]) < 0 {
		w.at++
	}
}

// skip goes over a value.
func (w *walker) skip() {
	for depth := 0; ; {
		switch w.data[w.at] {
		case '"':
			w.text()
		case '{', '[':
			depth++
			w.at++
		case '}', ']':
			depth--
			w.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			w.at++
			continue // it ends no value
		default:
			w.plain()
		}
		if depth == 0 {
			return
		}
	}
}

// writer writes a document that scan has accepted in canonical form.
type writer struct {
	walker
	out     []byte
	written []written // members of all open objects, one after the other
	before  []byte    // of sort: the members as they were
}

// written is a member in the output.
type written struct {
	key        []byte
	start, end int
}

// inOrder gives the canonical form of a document that scan has accepted.
func inOrder(data []byte) json.RawMessage {
	w := writer{walker: walker{data: data}, out: make([]byte, 0, len(data))}
	w.value()
	return w.out
}

func (w *writer) value() {
	switch w.space() {
	case '{':
		w.object()
	case '[':
		w.array()
	case '"':
		w.string()
	default:
		start := w.at
		w.plain()
		w.out = append(w.out, w.data[start:w.at]...)
	}
}

func (w *writer) array() {
	w.out = append(w.out, '[')
	w.at++
	for w.space() != ']' {
		if w.value(); w.space() == ',' {
			w.out = append(w.out, ',')
			w.at++
		}
	}
	w.out = append(w.out, ']')
	w.at++
}

func (w *writer) object() {
	w.out = append(w.out, '{')
	w.at++
	first, begin, sorted := len(w.written), len(w.out), true
	for w.space() != '}' {
		m := written{start: len(w.out)}
		m.key = w.string()
		w.space()
		w.at++
		w.out = append(w.out, ':')
		w.value()
		if m.end = len(w.out); len(w.written) > first && bytes.Compare(w.written[len(w.written)-1].key, m.key) > 0 {
			sorted = false
		}
		w.written = append(w.written, m)
		if w.space() == ',' {
			w.out = append(w.out, ',')
			w.at++
		}
	}
	if !sorted {
		w.sort(begin, w.written[first:])
	}
	w.written = w.written[:first]
	w.out = append(w.out, '}')
	w.at++
}

// sort puts the members of an object, which begin at a place of the output, into
// their order.
func (w *writer) sort(begin int, list []written) {
	slices.SortFunc(list, func(a, b written) int { return bytes.Compare(a.key, b.key) })
	w.before = append(w.before[:0], w.out[begin:]...)
	w.out = w.out[:begin]
	for i, m := range list {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.before[m.start-begin:m.end-begin]...)
	}
}

// string gives what the string says.
func (w *writer) string() []byte {
	start := w.at
	w.text()
	literal := w.data[start:w.at]
	if bytes.IndexByte(literal, '\\') < 0 && !bytes.Contains(literal, []byte("\xe2\x80")) { // U+2028 is written as an escape
		w.out = append(w.out, literal...)
		return literal[1 : len(literal)-1]
	}
	text := unquote(literal)
	encoded, _ := Encode(text) // a string always has a JSON form
	w.out = append(w.out, encoded...)
	return []byte(text)
}
