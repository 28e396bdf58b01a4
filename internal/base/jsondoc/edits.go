package jsondoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Edit is a place where a document differs from an older one. It has no values, because
// these may be secret.
type Edit struct {
	Path string `json:"path"` // a JSON pointer
	How  string `json:"how"`  // Added, Removed or Changed
}

// The ways in which a place can differ.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Edits returns the places where two documents differ, sorted. Objects, and lists of equal
// length, are compared member by member. A document that is not JSON differs as a whole.
func Edits(old, now json.RawMessage) []Edit {
	was, err := Value(old)
	is, err2 := Value(now)
	var list []Edit
	if err != nil || err2 != nil {
		if string(old) != string(now) {
			list = append(list, Edit{"", Changed})
		}
		return list
	}
	edits(nil, was, is, func(path []string, how string) { list = append(list, Edit{JoinPointer(path), how}) })
	slices.SortFunc(list, func(a, b Edit) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func edits(path []string, was, is any, add func(path []string, how string)) {
	at := func(step string) []string { return append(slices.Clone(path), step) }
	switch old := was.(type) {
	case map[string]any:
		now, ok := is.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(old)) {
			if value, there := now[key]; there {
				edits(at(key), old[key], value, add)
			} else {
				add(at(key), Removed)
			}
		}
		for key := range now {
			if _, there := old[key]; !there {
				add(at(key), Added)
			}
		}
		return
	case []any:
		now, ok := is.([]any)
		if !ok || len(now) != len(old) {
			break
		}
		for i := range old {
			edits(at(strconv.Itoa(i)), old[i], now[i], add)
		}
		return
	}
	if !same(was, is) {
		add(path, Changed)
	}
}

// same reports whether two values have the same encoding.
func same(a, b any) bool {
	left, err := Encode(a)
	right, err2 := Encode(b)
	return err == nil && err2 == nil && string(left) == string(right)
}

// EditWords describes edits for a person: the first three, and the number of the others.
func EditWords(list []Edit) string {
	const most = 3
	var words []string
	for _, e := range list[:min(most, len(list))] {
		words = append(words, strings.TrimSpace(e.Path+" "+e.How))
	}
	text := strings.Join(words, ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
