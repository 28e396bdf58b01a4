package jsondoc

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Masked is what stands in the place of a sensitive value.
const Masked = "(sensitive value)"

// Mask gives a copy of a document in which the values at the JSON pointers are
// replaced by the Masked text. A pointer to nothing changes nothing; the empty
// pointer is the whole document. What cannot be read is masked as a whole.
func Mask(raw json.RawMessage, pointers []string) json.RawMessage {
	if len(raw) == 0 || len(pointers) == 0 {
		return raw
	}
	whole := json.RawMessage(strconv.Quote(Masked))
	v, err := Value(raw)
	if err != nil {
		return whole
	}
	for _, p := range pointers {
		v = mask(v, Pointer(p))
	}
	out, err := Encode(v)
	if err != nil {
		return whole
	}
	return out
}

func mask(v any, steps []string) any {
	if len(steps) == 0 {
		return Masked
	}
	switch x := v.(type) {
	case map[string]any:
		if child, ok := x[steps[0]]; ok {
			x[steps[0]] = mask(child, steps[1:])
		}
	case []any:
		if i, err := strconv.Atoi(steps[0]); err == nil && i >= 0 && i < len(x) {
			x[i] = mask(x[i], steps[1:])
		}
	}
	return v
}

// Pointer splits a JSON pointer (RFC 6901) into its steps.
func Pointer(p string) []string {
	if p == "" {
		return nil
	}
	steps := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return steps
}

// JoinPointer is the opposite of Pointer.
func JoinPointer(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
