package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/strictjson"
)

const knownAfterApply = "(known after apply)"

// values renders JSON values as a reader of manifests knows them. It is the
// only way from a value to a person's eyes, and what is sensitive never passes.
type values struct {
	sensitive []string          // JSON pointers
	unknown   map[string]string // JSON pointers
}

// text renders a value that starts in the given column; lines after the first
// are indented by indent spaces.
func (v values) text(raw json.RawMessage, indent int) string {
	tree, err := strictjson.Value(raw)
	if err != nil {
		return "(unreadable: " + strconv.Quote(err.Error()) + ")"
	}
	return v.render(tree, "", indent)
}

// at is the same values, seen from below a key.
func (v values) hidden(pointer string) (string, bool) {
	if slices.Contains(v.sensitive, pointer) {
		return strictjson.Masked, true
	}
	if _, ok := v.unknown[pointer]; ok {
		return knownAfterApply, true
	}
	return "", false
}

func (v values) render(tree any, pointer string, indent int) string {
	if word, ok := v.hidden(pointer); ok {
		return word
	}
	pad := strings.Repeat(" ", indent)
	switch tree := tree.(type) {
	case map[string]any:
		if len(tree) == 0 {
			return "{}"
		}
		var b strings.Builder
		b.WriteString("{\n")
		keys, width := slices.Sorted(maps.Keys(tree)), 0
		for _, k := range keys {
			width = max(width, len(key(k)))
		}
		for _, k := range keys {
			b.WriteString(pad + "  " + padded(key(k), width) + " = " + v.render(tree[k], pointer+strictjson.JoinPointer([]string{k}), indent+2) + "\n")
		}
		return b.String() + pad + "}"
	case []any:
		return v.list(tree, pointer, indent)
	}
	return scalar(tree)
}

// list keeps short lists of scalars on one line.
func (v values) list(items []any, pointer string, indent int) string {
	if len(items) == 0 {
		return "[]"
	}
	parts, long := make([]string, len(items)), 0
	for i, item := range items {
		parts[i] = v.render(item, pointer+"/"+strconv.Itoa(i), indent+2)
		long += len(parts[i]) + 2
		if strings.Contains(parts[i], "\n") {
			long = 1000
		}
	}
	if long < 80 {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	pad := strings.Repeat(" ", indent)
	return "[\n" + pad + "  " + strings.Join(parts, ",\n"+pad+"  ") + ",\n" + pad + "]"
}

// scalar renders a leaf. Quoting escapes every control and format character.
func scalar(leaf any) string {
	switch leaf := leaf.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(leaf)
	case bool:
		return strconv.FormatBool(leaf)
	case json.Number:
		return leaf.String()
	}
	return "?"
}

// key renders an attribute name, quoted where it is no plain word.
func key(k string) string {
	for i, r := range k {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return strconv.Quote(k)
		}
	}
	if k == "" {
		return `""`
	}
	return k
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

// row is one value that differs: what is there, and what is wanted. "" = not.
type row struct{ path, have, want string }

// differences compares what is wanted with what is there, key by key. What is
// there and was not asked for is nobody's business.
func (v values) differences(have, want json.RawMessage) []row {
	h, err := strictjson.Value(have)
	if err != nil {
		return nil
	}
	w, err := strictjson.Value(want)
	if err != nil {
		return nil
	}
	var rows []row
	v.compare(h, w, "", "", true, &rows)
	return rows
}

func (v values) compare(have, want any, path, pointer string, there bool, rows *[]row) {
	if word, ok := v.hidden(pointer); ok {
		*rows = append(*rows, row{path, "", word})
		return
	}
	object, isObject := want.(map[string]any)
	holder, holds := have.(map[string]any)
	if isObject && (holds || path == "") {
		for _, k := range slices.Sorted(maps.Keys(object)) {
			inner, ok := holder[k]
			v.compare(inner, object[k], strings.TrimPrefix(path+"."+key(k), "."), pointer+strictjson.JoinPointer([]string{k}), ok, rows)
		}
		return
	}
	w := v.render(want, pointer, 8)
	if !there {
		*rows = append(*rows, row{path, "", w})
		return
	}
	if h := (values{sensitive: v.sensitive}).render(have, pointer, 8); h != w {
		*rows = append(*rows, row{path, h, w})
	}
}
