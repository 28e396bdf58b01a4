// Package jsondoc reads JSON the way a tool must that acts on it: exactly
// one value, no duplicate keys, exact-case keys, bounded depth, every digit of
// every number kept, and valid UTF-8. encoding/json is silent about most of
// these. It also writes the canonical form: sorted keys, compact, same digits.
package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of what is read.
const (
	MaxDepth    = 64      // nested objects and arrays
	MaxNodes    = 500_000 // values in one document
	MaxDigits   = 400     // characters in one number
	MaxExponent = 400     // of a number, either sign
)

// SyntaxError says what is wrong with a document, and where.
type SyntaxError struct {
	Offset  int64 // in bytes from the start
	Path    string
	Message string
}

func (e *SyntaxError) Error() string {
	at := fmt.Sprintf("byte %d", e.Offset)
	if e.Path != "" {
		at = e.Path + ", " + at
	}
	return fmt.Sprintf("%s (%s)", e.Message, at)
}

// ErrEmpty says that there is no JSON at all.
var ErrEmpty = errors.New("no JSON: it is empty")

// Check reports whether data is exactly one well-behaved JSON value.
func Check(data []byte) error { return checkWithin(data, foreign()) }

// CheckOwn is Check of what this tool has written itself. There documents that
// others have made stand side by side and inside others: so it may have any
// number of values, and be nested more deeply.
func CheckOwn(data []byte) error { return checkWithin(data, own()) }

// bounds are how large a document may be.
type bounds struct{ depth, values int }

func foreign() bounds { return bounds{MaxDepth, MaxNodes} }
func own() bounds     { return bounds{2 * MaxDepth, math.MaxInt} }

func checkWithin(data []byte, within bounds) error {
	if sound, _ := scanWithin(data, within); sound {
		return nil
	}
	return examine(data, within)
}

// examine is Check of what is unusual or wrong: it takes its time, and says what
// is wrong and where.
func examine(data []byte, within bounds) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return ErrEmpty
	}
	if at := invalidUTF8(data); at >= 0 {
		return &SyntaxError{Offset: int64(at), Message: "invalid UTF-8"}
	}
	// The depth is bounded before anything else looks: a scan of brackets
	// outside strings costs no stack.
	if at := tooDeep(data, within.depth); at >= 0 {
		return &SyntaxError{Offset: int64(at), Message: fmt.Sprintf("nested deeper than %d levels", within.depth)}
	}
	if err := syntax(data); err != nil {
		return err
	}
	return walk(data, within.values)
}

// Valid is Check for a value that may also be absent.
func Valid(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	return Check(raw)
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func tooDeep(data []byte, most int) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// syntax finds syntax errors and anything after the first value.
func syntax(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	var first json.RawMessage
	if err := dec.Decode(&first); err != nil {
		return syntaxError(err, len(data))
	}
	end := dec.InputOffset()
	rest := bytes.TrimSpace(data[end:])
	if len(rest) == 0 {
		return nil
	}
	at := int64(len(data) - len(bytes.TrimLeft(data[end:], " \t\r\n")))
	if json.Valid(rest) {
		return &SyntaxError{Offset: at, Message: "more than one JSON value"}
	}
	return &SyntaxError{Offset: at, Message: "something follows the JSON value"}
}

func syntaxError(err error, size int) error {
	var se *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &SyntaxError{Offset: int64(size), Message: "the JSON ends too early"}
	case errors.As(err, &se):
		return &SyntaxError{Offset: max(se.Offset-1, 0), Message: "not JSON: " + se.Error()}
	}
	return &SyntaxError{Message: "not JSON: " + err.Error()}
}

// frame is one open object or array of walk.
type frame struct {
	keys  map[string]bool // nil for an array
	key   string
	index int
}

// walk visits every token of a document whose syntax is right.
func walk(data []byte, most int) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []frame
	nodes := 0
	for {
		before := dec.InputOffset()
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return syntaxError(err, len(data))
		}
		fail := func(format string, args ...any) error {
			return &SyntaxError{Offset: dec.InputOffset(), Path: path(open), Message: fmt.Sprintf(format, args...)}
		}
		if s, ok := tok.(string); ok && loneSurrogate(s, data[before:dec.InputOffset()]) {
			return fail("a string holds half of a surrogate pair")
		}
		if n, ok := tok.(json.Number); ok {
			if why := badNumber(n.String()); why != "" {
				return fail("%s", why)
			}
		}
		key, value, twice := step(&open, tok)
		if twice {
			return fail("the key %q is there twice", key)
		}
		if value {
			nodes++
		}
		if nodes > most {
			return fail("more than %d values", most)
		}
	}
}

// step follows one token into or out of the open frames. It reports whether a
// value begins with it, and when a key is there for the second time.
func step(open *[]frame, tok json.Token) (key string, value, twice bool) {
	top := len(*open) - 1
	if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
		*open = (*open)[:top]
		closeValue(*open)
		return "", false, false
	}
	if top >= 0 {
		f := &(*open)[top]
		if f.keys != nil && f.index%2 == 0 { // in an object, even tokens are keys
			key, _ := tok.(string)
			if f.keys[key] {
				return key, false, true
			}
			f.keys[key], f.key = true, key
			f.index++
			return "", false, false
		}
	}
	if d, ok := tok.(json.Delim); ok {
		f := frame{}
		if d == '{' {
			f.keys = map[string]bool{}
		}
		*open = append(*open, f)
		return "", true, false
	}
	closeValue(*open)
	return "", true, false
}

func closeValue(open []frame) {
	if n := len(open); n > 0 {
		open[n-1].index++
	}
}

func path(open []frame) string {
	var b strings.Builder
	for _, f := range open {
		if f.keys == nil {
			fmt.Fprintf(&b, "[%d]", f.index)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(f.key)
	}
	return b.String()
}

// loneSurrogate finds \ud800 without its other half, which encoding/json
// silently turns into U+FFFD.
func loneSurrogate(s string, raw []byte) bool {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return false
	}
	meant := strings.Count(string(raw), string(utf8.RuneError)) + strings.Count(strings.ToLower(string(raw)), `\ufffd`)
	return strings.Count(s, string(utf8.RuneError)) > meant
}

func badNumber(n string) string {
	if len(n) > MaxDigits {
		return fmt.Sprintf("a number of more than %d digits", MaxDigits)
	}
	i := strings.IndexAny(n, "eE")
	if i < 0 {
		return ""
	}
	exp, err := strconv.Atoi(n[i+1:])
	if err != nil || exp > MaxExponent || exp < -MaxExponent {
		return fmt.Sprintf("a number with an exponent beyond %d", MaxExponent)
	}
	return ""
}
