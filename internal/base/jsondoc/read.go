package jsondoc

import (
	"encoding/json"
	"strings"
)

// reader makes a value of a document that scan has accepted, so nothing in it
// can be wrong any more.
type reader struct {
	text string // all of it; the strings of the value are parts of it
	at   int
}

// read gives the value of a document that scan has accepted.
func read(data []byte) any {
	r := reader{text: string(data)}
	return r.value()
}

// space gives the next byte that is none.
func (r *reader) space() byte {
	for {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return c
		}
	}
}

func (r *reader) value() any {
	switch r.space() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.string()
	case 't':
		r.at += len("true")
		return true
	case 'f':
		r.at += len("false")
		return false
	case 'n':
		r.at += len("null")
		return nil
	}
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.0123456789eE", r.text[r.at]) >= 0 {
		r.at++
	}
	return json.Number(r.text[start:r.at])
}

func (r *reader) object() any {
	m := map[string]any{}
	r.at++
	for r.space() != '}' {
		key := r.string()
		r.space()
		r.at++ // the colon
		m[key] = r.value()
		if r.space() == ',' {
			r.at++
			r.space()
		}
	}
	r.at++
	return m
}

func (r *reader) array() any {
	list := []any{}
	r.at++
	for r.space() != ']' {
		list = append(list, r.value())
		if r.space() == ',' {
			r.at++
		}
	}
	r.at++
	return list
}

func (r *reader) string() string {
	r.at++
	start := r.at
	for escaped := false; ; r.at++ {
		switch r.text[r.at] {
		case '\\':
			escaped = true
			r.at++
		case '"':
			r.at++
			if !escaped {
				return r.text[start : r.at-1]
			}
			return unquote([]byte(r.text[start-1 : r.at]))
		}
	}
}
