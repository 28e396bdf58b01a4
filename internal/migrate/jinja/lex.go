package jinja

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a part of the text of an expression.
type token struct {
	kind  string // name, string, int, float, op, end
	text  string // of a string: its value
	start int    // in the text
	after int    // where the next one may begin
}

// reader reads tokens from a text. stop is what ends the expression: }} or %} in a
// template, "" in an expression alone.
type reader struct {
	text string
	pos  int
	stop string
	deep int // open brackets
}

var (
	floats = regexp.MustCompile(`^(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)`)
	ints   = regexp.MustCompile(`^(?i:0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*)`)
	long   = []string{"//", "**", "==", "!=", ">=", "<="}
)

const short = "+-/*%~[](){}<>=.:|,;"

// next returns the next token. At the end of the text, or before stop, it is of the kind end.
func (r *reader) next(afterDot bool) (token, error) {
	for r.pos < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.pos:])
		if !unicode.IsSpace(c) {
			break
		}
		r.pos += size
	}
	rest := r.text[r.pos:]
	if rest == "" || r.stop != "" && r.deep == 0 &&
		(strings.HasPrefix(rest, r.stop) || strings.HasPrefix(rest, "-"+r.stop) || strings.HasPrefix(rest, "+"+r.stop)) {
		return token{"end", "", r.pos, r.pos}, nil
	}
	found := func(kind, text string, size int) (token, error) {
		t := token{kind, text, r.pos, r.pos + size}
		r.pos = t.after
		return t, nil
	}
	if !afterDot {
		if text := floats.FindString(rest); text != "" {
			return found("float", strings.ReplaceAll(text, "_", ""), len(text))
		}
	}
	if text := ints.FindString(rest); text != "" {
		return found("int", strings.ReplaceAll(text, "_", ""), len(text))
	}
	if size := identifier(rest); size > 0 {
		return found("name", rest[:size], size)
	}
	if rest[0] == '"' || rest[0] == '\'' {
		size, err := r.quoted(rest)
		if err != nil {
			return token{}, err
		}
		text, err := unescape(rest[1 : size-1])
		if err != nil {
			return token{}, r.errorf(r.pos, "%s", err)
		}
		return found("string", text, size)
	}
	for _, op := range long {
		if strings.HasPrefix(rest, op) {
			return found("op", op, len(op))
		}
	}
	if !strings.ContainsRune(short, rune(rest[0])) {
		c, _ := utf8.DecodeRuneInString(rest)
		return token{}, r.errorf(r.pos, "unexpected character %q", c)
	}
	switch rest[0] {
	case '(', '[', '{':
		r.deep++
	case ')', ']', '}':
		if r.deep--; r.deep < 0 {
			return token{}, r.errorf(r.pos, "unexpected %q", rest[:1])
		}
	}
	return found("op", rest[:1], 1)
}

// identifier returns the length of the name at the start of a text.
func identifier(text string) int {
	for i, c := range text {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c)) {
			return i
		}
	}
	return len(text)
}

// quoted returns the length of the string literal at the start of a text.
func (r *reader) quoted(text string) (int, error) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1, nil
		}
	}
	return 0, r.errorf(r.pos, "the string has no end")
}

var escapes = map[byte]string{'\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\n': ""}

// digits has how many hexadecimal digits follow a letter.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape replaces the escape sequences of Python. An unknown one is unchanged.
func unescape(text string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if s, ok := escapes[c]; ok {
			out.WriteString(s)
			continue
		}
		if n := digits[c]; n > 0 {
			if i+n >= len(text) {
				return "", fmt.Errorf("the escape sequence \\%c is cut off", c)
			}
			code, err := strconv.ParseUint(text[i+1:i+1+n], 16, 32)
			if err != nil || code > unicode.MaxRune || !utf8.ValidRune(rune(code)) {
				return "", fmt.Errorf("the escape sequence \\%s is not a character", text[i:i+1+n])
			}
			out.WriteRune(rune(code))
			i += n
			continue
		}
		if c >= '0' && c <= '7' {
			n := 1
			for n < 3 && i+n < len(text) && text[i+n] >= '0' && text[i+n] <= '7' {
				n++
			}
			code, _ := strconv.ParseUint(text[i:i+n], 8, 16) // three octal digits are always a number
			out.WriteRune(rune(code))
			i += n - 1
			continue
		}
		if c == 'N' {
			return "", fmt.Errorf("names of characters, as in \\N{...}, are not supported")
		}
		out.WriteByte('\\')
		out.WriteByte(c)
	}
	return out.String(), nil
}

func (r *reader) errorf(pos int, format string, args ...any) *Error {
	return &Error{Line: 1 + strings.Count(r.text[:min(pos, len(r.text))], "\n"), What: fmt.Sprintf(format, args...)}
}
