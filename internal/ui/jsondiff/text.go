package jsondiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/base/words"
)

// side is one of the two values of a comparison, or the only one.
type side struct {
	sensitive map[string]bool
	unknown   map[string]string
	mayChange map[string]bool
	hide      func(string) string
}

func newSide(v Value, hide func(string) string) side {
	s := side{sensitive: make(map[string]bool, len(v.Sensitive)), unknown: v.Unknown, hide: hide,
		mayChange: make(map[string]bool, len(v.MayChange))}
	if len(v.Open) > 0 {
		s.unknown = maps.Clone(v.Unknown)
	}
	for _, p := range v.Open {
		if s.unknown == nil {
			s.unknown = map[string]string{}
		}
		s.unknown[p] = ""
	}
	for _, p := range v.Sensitive {
		s.sensitive[p] = true
	}
	for _, p := range v.MayChange {
		s.mayChange[p] = true
	}
	return s
}

// placeholder returns the text that replaces a value that cannot be shown.
func (s side) placeholder(pointer string) (string, bool) {
	if s.sensitive[pointer] {
		return secret.Masked, true
	}
	if _, ok := s.unknown[pointer]; ok {
		return Known, true
	}
	return "", false
}

// clean hides the secrets in a text.
func (s side) clean(text string) string {
	if s.hide == nil {
		return text
	}
	return s.hide(text)
}

// text renders a value in about most bytes at the most.
func (s side) text(tree any, pointer string, indent, most int) string {
	w := &writer{side: s, left: most, whole: most < 0}
	if w.whole {
		w.left = math.MaxInt
	}
	w.value(tree, pointer, indent)
	return w.String()
}

// writer renders a value, and stops when its limit is reached.
type writer struct {
	strings.Builder
	side
	left  int  // bytes that may still be written
	whole bool // nothing is left out
}

func (w *writer) put(text string) {
	w.WriteString(text)
	w.left -= len(text)
}

func (w *writer) value(tree any, pointer string, indent int) {
	if word, ok := w.placeholder(pointer); ok {
		w.put(word)
		return
	}
	switch tree := tree.(type) {
	case map[string]any:
		w.object(tree, pointer, indent)
	case []any:
		w.list(tree, pointer, indent)
	case string:
		w.put(w.quoted(tree))
	default:
		w.put(scalar(tree))
	}
	if w.mayChange[pointer] {
		w.put(mayChange)
	}
}

func (w *writer) object(tree map[string]any, pointer string, indent int) {
	if len(tree) == 0 {
		w.put("{}")
		return
	}
	pad := strings.Repeat(" ", indent)
	names, width := keys(tree), 0
	for _, k := range names[:min(len(names), maxBody)] {
		width = max(width, utf8.RuneCountInString(Key(k)))
	}
	w.put("{\n")
	for i, k := range names {
		if w.left <= 0 {
			w.put(fmt.Sprintf("%s  (%s more)\n", pad, words.Thousands(len(names)-i)))
			break
		}
		w.put(pad + "  " + Padded(Key(k), min(width, 40)) + " = ")
		w.value(tree[k], pointer+jsondoc.JoinPointer([]string{k}), indent+2)
		w.put("\n")
	}
	w.put(pad + "}")
}

// list keeps short lists of scalars on one line.
func (w *writer) list(items []any, pointer string, indent int) {
	const oneLine = 80
	parts, long, more := []string(nil), 0, 0
	for i, item := range items {
		inner := &writer{side: w.side, left: w.left, whole: w.whole}
		if inner.left <= 0 {
			more = len(items) - i
			break
		}
		inner.value(item, pointer+"/"+strconv.Itoa(i), indent+2)
		parts = append(parts, inner.String())
		w.left -= inner.Len() + 2
		if long += inner.Len() + 2; strings.Contains(parts[i], "\n") {
			long = oneLine
		}
	}
	if more > 0 {
		parts, long = append(parts, fmt.Sprintf("(%s more)", words.Thousands(more))), oneLine
	}
	if long < oneLine {
		w.WriteString("[" + strings.Join(parts, ", ") + "]")
		return
	}
	pad := strings.Repeat(" ", indent)
	w.WriteString("[\n")
	for i, part := range parts {
		w.WriteString(pad + "  " + part)
		if i < len(items)-more {
			w.WriteString(",")
		}
		w.WriteString("\n")
	}
	w.WriteString(pad + "]")
}

// quoted renders a string, and cuts it if it is too long.
func (w *writer) quoted(text string) string {
	if text = w.clean(text); w.whole {
		return quote(text)
	}
	return cut(text, max(min(w.left, MaxText), 40))
}

// cut quotes a text, or only its beginning if it is longer than most.
func cut(text string, most int) string {
	if len(text) <= most {
		return quote(text)
	}
	return quote(wholeRunes(text[:most/2])) + fmt.Sprintf("... (%s bytes in all)", words.Thousands(len(text)))
}

// wholeRunes drops an incomplete character at the end.
func wholeRunes(text string) string {
	for i := 0; i < 3 && len(text) > 0 && text[len(text)-1] >= 0x80; i++ {
		if strings.ToValidUTF8(text[max(0, len(text)-4):], "") == text[max(0, len(text)-4):] {
			break
		}
		text = text[:len(text)-1]
	}
	return strings.ToValidUTF8(text, "")
}

// quote escapes every control and format character.
func quote(text string) string { return diag.Visible(strconv.Quote(text)) }

// scalar renders a scalar that is not a string.
func scalar(leaf any) string {
	switch leaf := leaf.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(leaf)
	case json.Number:
		return cutPlain(leaf.String())
	}
	return "?"
}

// cutPlain shortens a number.
func cutPlain(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return text[:maxLine/2] + fmt.Sprintf("... (%s digits in all)", words.Thousands(len(text)))
}

// Key renders an attribute's name, quoted if it is not a plain word.
func Key(k string) string {
	for i, r := range k {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return cut(k, maxLine)
		}
	}
	if k == "" || len(k) > maxLine {
		return cut(k, maxLine)
	}
	return k
}

// Padded pads a text with spaces to a width.
func Padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

func keys(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }
