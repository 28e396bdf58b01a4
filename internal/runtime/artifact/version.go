package artifact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Version names one version in its space: {"ref": "c3d4"}.
type Version map[string]string

// Key returns the version in canonical JSON, for use as a map key.
func (v Version) Key() string { return string(canonical(v)) }

// Is reports whether both are the same version.
func (v Version) Is(other Version) bool { return maps.Equal(v, other) }

// String returns the version for people: only the value if there is only one. It is text
// of an image: make it visible before you show it.
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

// Metadata describes a version to people, in the order of the image.
type Metadata []Field

// Field is one field of metadata.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Map returns the metadata by name; of equal names the last counts.
func (m Metadata) Map() map[string]string {
	out := make(map[string]string, len(m))
	for _, f := range m {
		out[f.Name] = f.Value
	}
	return out
}

// Versioned is a version with its space and metadata.
type Versioned struct {
	Space    string   `json:"space"`
	Version  Version  `json:"version"`
	Metadata Metadata `json:"metadata,omitempty"`
}

// canonical encodes a value whose encoding cannot fail. Keys are sorted.
func canonical(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a map of text, or JSON that was checked
	}
	return b
}
