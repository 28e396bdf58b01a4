package observe

import (
	"reflect"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/state"
)

// Differs reports whether the value at a path, which begins with name, type, config or state, is
// expected to differ from the recorded one. unknown are pointers into the config to values
// that are not known yet: these count as different.
func (v View) Differs(path []string, was state.Entry, unknown map[string]string) bool {
	before, after, open := was.State, v.State, v.Unknown
	switch path[0] {
	case "name":
		return false
	case "type":
		return was.Type != v.Type
	case "config":
		before, after, open = was.Config, v.Config, nil
		for pointer := range unknown {
			open = append(open, pointer)
		}
	}
	pointer := jsondoc.JoinPointer(path[1:])
	if slices.ContainsFunc(open, func(p string) bool {
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
	return !reflect.DeepEqual(old, value) || value == nil && v.Partial && path[0] == "state"
}
