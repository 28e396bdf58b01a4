package jsondoc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Place is where a text stands in a document.
type Place struct {
	Path []string // the keys that lead to it; elements of arrays have none of their own. Not to be kept
	Key  bool     // it is a key itself, the last one of Path not being it
}

// Rewrite passes every string and every number of a document through change,
// and leaves everything else as it is to the byte. A number that is changed
// becomes a string. The document must be valid JSON.
func Rewrite(data []byte, change func(text string, at Place) string) []byte {
	out := make([]byte, 0, len(data)+len(data)/16)
	var path []string
	var open []int // how long the path was when each object and array around began
	for i := 0; i < len(data); {
		c, end := data[i], i+1
		switch {
		case c == '{' || c == '[':
			open = append(open, len(path))
		case c == '}' || c == ']':
			path, open = path[:open[len(open)-1]], open[:len(open)-1]
		case c == ',':
			path = path[:open[len(open)-1]] // the value of the key has ended
		case c == '"':
			end = literalEnd(data, i)
			literal := data[i:end]
			text, key := unquote(literal), isKey(data[end:])
			out = append(out, rewritten(literal, text, change(text, Place{path, key}))...)
			if key {
				path = append(path, text)
			}
			i = end
			continue
		case c == '-' || c >= '0' && c <= '9':
			for end < len(data) && strings.IndexByte("+-.eE0123456789", data[end]) >= 0 {
				end++
			}
			literal := data[i:end]
			out = append(out, rewritten(literal, string(literal), change(string(literal), Place{path, false}))...)
			i = end
			continue
		}
		out = append(out, data[i:end]...)
		i = end
	}
	return out
}

// literalEnd finds the end of the string that begins at i.
func literalEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// isKey reports whether what follows a string makes it a key.
func isKey(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ':'
		}
	}
	return false
}

func unquote(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	at := bytes.IndexByte(inner, '\\')
	if at < 0 {
		return string(inner)
	}
	if plain, ok := unescaped(inner, at); ok {
		return plain
	}
	var text string
	_ = json.Unmarshal(literal, &text) // the document is valid
	return text
}

// unescaped reads what stands between the quotes of a string whose first escape
// is at a place; not ok = it has escapes by number.
func unescaped(inner []byte, at int) (string, bool) {
	var b strings.Builder
	b.Grow(len(inner))
	for ; at >= 0; at = bytes.IndexByte(inner, '\\') {
		b.Write(inner[:at])
		c := inner[at+1]
		if i := strings.IndexByte(`nrtbf`, c); i >= 0 {
			c = "\n\r\t\b\f"[i]
		} else if c == 'u' {
			return "", false
		}
		b.WriteByte(c)
		inner = inner[at+2:]
	}
	b.Write(inner)
	return b.String(), true
}

// rewritten is the literal as it was, or another text.
func rewritten(literal []byte, before, after string) []byte {
	if before == after {
		return literal
	}
	encoded, _ := Encode(after) // a string always has a JSON form
	return encoded
}
