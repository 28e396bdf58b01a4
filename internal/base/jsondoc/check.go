package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// SyntaxError describes what is invalid in a document, and where.
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

// ErrEmpty reports a document without any JSON.
var ErrEmpty = errors.New("not JSON: it is empty")

// Check returns an error unless data is exactly one valid JSON value within the limits.
func Check(data []byte) error { return check(data, foreign()) }

// CheckOwn is Check for a document that deployster has written. Such a document contains
// documents of others, side by side and nested: so it may have any number of values, and
// be nested more deeply.
func CheckOwn(data []byte) error { return check(data, own()) }

func check(data []byte, within limits) error {
	if jsontext.Value(data).IsValid() && within.allow(data) {
		return nil
	}
	return explain(data, within)
}

// explain is check token by token, which takes longer and finds what is invalid and
// where.
func explain(data []byte, within limits) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return ErrEmpty
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	fail := func(format string, args ...any) error {
		return &SyntaxError{Offset: dec.InputOffset(), Path: path(dec, dec.StackPointer()), Message: fmt.Sprintf(format, args...)}
	}
	values := 0
	for first := true; first || dec.StackDepth() > 0; first = false {
		if dec.PeekKind() == '0' {
			number, err := dec.ReadValue()
			if err != nil {
				return syntaxError(data, dec, err)
			}
			if problem := checkNumber(string(number)); problem != "" {
				return fail("%s", problem)
			}
			values++
		} else {
			token, err := dec.ReadToken()
			if err != nil {
				return syntaxError(data, dec, err)
			}
			if dec.StackDepth() > within.depth {
				return fail("nested deeper than %d levels", within.depth)
			}
			if kind := token.Kind(); kind != '}' && kind != ']' && !atName(dec) {
				values++
			}
		}
		if values > within.values {
			return fail("more than %d values", within.values)
		}
	}
	return checkEnd(data, dec)
}

// atName reports whether the token that was read last is the name of a member.
func atName(dec *jsontext.Decoder) bool {
	kind, tokens := dec.StackIndex(dec.StackDepth())
	return kind == '{' && tokens%2 == 1
}

// checkEnd returns an error if anything follows the first value.
func checkEnd(data []byte, dec *jsontext.Decoder) error {
	rest := bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	at := int64(len(data) - len(rest))
	if json.Valid(rest) {
		return &SyntaxError{Offset: at, Message: "more than one JSON value"}
	}
	return &SyntaxError{Offset: at, Message: "something follows the JSON value"}
}

// syntaxError converts the library's error to a SyntaxError.
func syntaxError(data []byte, dec *jsontext.Decoder, err error) error {
	var se *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &SyntaxError{Offset: int64(len(data)), Message: "the JSON ends too early"}
	case errors.As(err, &se) && errors.Is(err, jsontext.ErrDuplicateName):
		return &SyntaxError{Offset: se.ByteOffset, Path: path(dec, se.JSONPointer.Parent()),
			Message: fmt.Sprintf("the key %q is given twice", se.JSONPointer.LastToken())}
	case errors.As(err, &se) && se.Err != nil:
		return &SyntaxError{Offset: se.ByteOffset, Message: "not JSON: " + se.Err.Error()}
	}
	return &SyntaxError{Message: "not JSON: " + err.Error()}
}

// path formats a pointer as messages show it: servers[0].name.
func path(dec *jsontext.Decoder, pointer jsontext.Pointer) string {
	var b strings.Builder
	depth := 0
	for token := range pointer.Tokens() {
		depth++
		switch kind, _ := dec.StackIndex(min(depth, dec.StackDepth())); {
		case kind == '[':
			fmt.Fprintf(&b, "[%s]", token)
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// KindOf returns the kind of a value, for messages: "an object", "a string", ...
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
