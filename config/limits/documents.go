package limits

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// JSON does for JSON syntax what Native does, without checking the syntax: it checks
// the brackets and numbers outside strings, and the templates inside.
func JSON(src []byte, filename string) *hcl.Diagnostic {
	depth, tokens := 0, 0
	pos := hcl.Pos{Line: 1, Column: 1}
	for i := 0; i < len(src); {
		width := 1
		place := hcl.Range{Filename: filename, Start: pos, End: pos}
		switch c := src[i]; {
		case c == '{' || c == '[':
			if depth++; depth > Depth {
				return Exceeded(place, "levels of nesting", Depth)
			}
		case c == '}' || c == ']':
			depth--
		case c == ',':
			tokens++
		case c == '"':
			width = jsonStringWidth(src[i:])
			if d := jsonString(src[i:i+width], place); d != nil {
				return d
			}
		case c >= '0' && c <= '9':
			for i+width < len(src) && strings.IndexByte("0123456789.eE+-", src[i+width]) >= 0 {
				width++
			}
			if d := checkNumberText(string(src[i:i+width]), place); d != nil {
				return d
			}
		}
		if tokens > Tokens {
			return Exceeded(place, "values in one file", Tokens)
		}
		pos = advance(pos, src[i:i+width])
		i += width
	}
	return nil
}

func advance(pos hcl.Pos, text []byte) hcl.Pos {
	for _, c := range text {
		pos.Byte++
		pos.Column++
		if c == '\n' {
			pos.Line++
			pos.Column = 1
		}
	}
	return pos
}

// jsonStringWidth returns the length of the string literal at the start of src, with
// its quotes.
func jsonStringWidth(src []byte) int {
	for i := 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(src)
}

func jsonString(literal []byte, place hcl.Range) *hcl.Diagnostic {
	var text string
	if json.Unmarshal(literal, &text) != nil {
		text = string(literal) // the parser reports the error
	}
	if !strings.Contains(text, "${") && !strings.Contains(text, "%{") {
		return nil
	}
	return Native([]byte(text), place.Filename, true, place.Start)
}
