package artifact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Version names one version in its space: {"ref": "c3d4"}.
type Version map[string]string

// Key is the version in canonical JSON, as a name for maps.
func (v Version) Key() string { return string(canonical(v)) }

// Is reports whether both are the same version.
func (v Version) Is(other Version) bool { return maps.Equal(v, other) }

// String is the version for people: the value alone where there is one only. It is
// text of an image, to be made visible before it is shown.
func (v Version) String() string {
	if len(v) == 1 {
		for _, value := range v {
			return value
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, name+"="+v[name])
	}
	return strings.Join(parts, " ")
}

// Metadata says things of a version to people, in the order of the image.
type Metadata []Field

// Field is one of them.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Map is the metadata by name; the last of equal names counts.
func (m Metadata) Map() map[string]string {
	out := make(map[string]string, len(m))
	for _, f := range m {
		out[f.Name] = f.Value
	}
	return out
}

// Versioned is a version with what is said of it.
type Versioned struct {
	Space    string   `json:"space"`
	Version  Version  `json:"version"`
	Metadata Metadata `json:"metadata,omitempty"`
}

// canonical encodes a value that has nothing which could fail. Keys are sorted.
func canonical(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a map of text, or JSON that was checked
	}
	return b
}
