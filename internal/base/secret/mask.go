package secret

import (
	"encoding/json"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// Masked is the text that replaces a sensitive value.
const Masked = "(sensitive value)"

// Mask returns a copy of a document in which the values at the JSON pointers are replaced
// by the Masked text. A pointer to nothing changes nothing; the empty pointer is the
// whole document. A document that cannot be read is masked as a whole.
func Mask(raw json.RawMessage, pointers []string) json.RawMessage {
	if len(raw) == 0 || len(pointers) == 0 {
		return raw
	}
	whole := json.RawMessage(strconv.Quote(Masked))
	v, err := jsondoc.Value(raw)
	if err != nil {
		return whole
	}
	for _, p := range pointers {
		v = mask(v, jsondoc.Pointer(p))
	}
	out, err := jsondoc.Encode(v)
	if err != nil {
		return whole
	}
	return out
}

// MaskPart masks a value at a path of a document: as a whole if one of the pointers
// touches the path, else the leaves that contain secrets.
func MaskPart(value json.RawMessage, path string, pointers, secrets []string) json.RawMessage {
	if Touches(pointers, path) {
		return Mask(value, []string{""})
	}
	return Mask(value, Find(value, secrets))
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
