package secretref

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
)

// What stands around the name of a secret in a text.
const (
	begin = "⟪secret."
	end   = ".value⟫"
)

// Text returns what stands for the value of a secret.
func Text(name string) string { return begin + name + end }

// Names returns the secrets that a text names, sorted.
func Names(text string) (names []string) {
	_, _ = fill(text, func(name string) (string, error) {
		names = append(names, name)
		return "", nil
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Fill returns a text with the values of the secrets that it names.
func Fill(text string, value func(name string) (string, error)) (string, error) {
	return fill(text, value)
}

func fill(text string, value func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, begin)
		name, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			out.WriteString(text)
			return out.String(), nil
		}
		if !isName(name) {
			out.WriteString(before + begin)
			text = rest
			continue
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		out.WriteString(before + v)
		text = after
	}
}

// isName reports whether a text may be the name of a block.
func isName(name string) bool {
	for _, c := range name {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return name != ""
}

// In reports whether a document may name a secret; no other text has this.
func In(document []byte) bool { return bytes.Contains(document, []byte(begin)) }

// Places returns the JSON pointers of a document to the texts that name secrets, sorted, with the names in each.
func Places(document json.RawMessage) (pointers []string, names map[string][]string) {
	if !In(document) {
		return nil, nil
	}
	tree, err := jsondoc.Value(document)
	if err != nil {
		return nil, nil
	}
	names = map[string][]string{}
	jsondoc.Leaves(tree, func(path []string, leaf any) {
		text, is := leaf.(string)
		if list := Names(text); is && len(list) > 0 {
			pointer := jsondoc.JoinPointer(path)
			pointers, names[pointer] = append(pointers, pointer), list
		}
	})
	slices.Sort(pointers)
	return pointers, names
}

// All returns the secrets that documents name, sorted.
func All(documents ...json.RawMessage) (all []string) {
	for _, d := range documents {
		_, names := Places(d)
		for _, list := range names {
			all = append(all, list...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// FillJSON returns a document whose texts have the values of the secrets that they name.
func FillJSON(document json.RawMessage, value func(name string) (string, error)) (json.RawMessage, error) {
	if !In(document) {
		return document, nil
	}
	var failed error
	out := jsondoc.Rewrite(document, func(text string, at jsondoc.Place) string {
		if at.Number || failed != nil {
			return text
		}
		filled, err := fill(text, value)
		failed = err
		return filled
	})
	return out, failed
}

// Without returns a document without the members and elements whose texts name one of the secrets.
func Without(document json.RawMessage, gone map[string]bool) json.RawMessage {
	tree, err := jsondoc.Value(document)
	if err != nil || !In(document) {
		return document
	}
	out, err := jsondoc.Encode(without(tree, gone))
	if err != nil {
		return document
	}
	return out
}

func without(part any, gone map[string]bool) any {
	names := func(v any) bool {
		text, is := v.(string)
		return is && slices.ContainsFunc(Names(text), func(name string) bool { return gone[name] })
	}
	switch v := part.(type) {
	case map[string]any:
		for key, value := range v {
			if v[key] = without(value, gone); names(value) {
				delete(v, key)
			}
		}
	case []any:
		for i, value := range v {
			if v[i] = without(value, gone); names(value) {
				v[i] = nil
			}
		}
	}
	return part
}
