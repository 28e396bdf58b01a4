package things

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/state"
)

// Expected is a recorded resource as a plan expects it to become.
type Expected struct {
	Acts          bool // something will be done, to it or with another thing in its place
	Type          string
	Config, State json.RawMessage // nil = not known
	Unknown       []string        // JSON pointers into both, which begin with /config or /state: what is not known
	Partial       bool            // State may get more
}

// Triggers reports whether a resource changes: all of it, or the value at a path.
func Triggers(path []string, was state.Entry, now Expected) bool {
	if len(path) == 0 {
		return now.Acts
	}
	before, after := was.State, now.State
	switch path[0] {
	case "name":
		return false
	case "type":
		return was.Type != now.Type
	case "config":
		before, after = was.Config, now.Config
	}
	pointer := jsondoc.JoinPointer(path)
	if len(after) == 0 || slices.ContainsFunc(now.Unknown, func(p string) bool {
		return strings.HasPrefix(p+"/", pointer+"/") || strings.HasPrefix(pointer+"/", p+"/")
	}) {
		return true
	}
	old, err := jsondoc.Value(before)
	value, wrong := jsondoc.Value(after)
	if err != nil || wrong != nil {
		return true
	}
	old, value = jsondoc.At(old, path[1:]), jsondoc.At(value, path[1:])
	return !reflect.DeepEqual(old, value) || value == nil && now.Partial && path[0] == "state"
}
