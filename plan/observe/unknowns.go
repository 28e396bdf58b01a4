package observe

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// AcceptsUnknown reports whether an image can be queried about a config with these unknown values:
// its type reports it, and the identity of the object is known.
func AcceptsUnknown(ty *protocol.Type, unknown map[string]string) bool {
	if !ty.Unknowns {
		return false
	}
	for pointer := range unknown {
		names := func(named string) bool { return within(named, pointer) || within(pointer, named) }
		if pointer == "" || slices.ContainsFunc(ty.Identity, names) {
			return false
		}
	}
	return true
}

// within reports whether a pointer leads to what another pointer leads to, or into it.
func within(pointer, something string) bool {
	return pointer == something || strings.HasPrefix(pointer, something+"/")
}

// SetUnknown puts null into the config of an input for each unknown value, and lists their pointers.
func SetUnknown(in *protocol.StateInput, unknown map[string]string) {
	if len(unknown) == 0 {
		return
	}
	in.Unknown = slices.Sorted(maps.Keys(unknown))
	doc, err := jsondoc.Value(in.Config)
	if err != nil {
		return // the config is sent unchanged, and refused
	}
	for _, pointer := range in.Unknown {
		steps := jsondoc.Pointer(pointer)
		last := len(steps) - 1
		switch parent := jsondoc.At(doc, steps[:last]).(type) {
		case map[string]any:
			parent[steps[last]] = nil
		case []any:
			if i, err := strconv.Atoi(steps[last]); err == nil && i < len(parent) {
				parent[i] = nil
			}
		}
	}
	if config, err := jsondoc.Encode(doc); err == nil {
		in.Config = config
	}
}

// ConfigsDiffer reports whether a config differs from the recorded one, whatever its unknown
// values will be.
func ConfigsDiffer(recorded, config json.RawMessage, unknown map[string]string) bool {
	return slices.ContainsFunc(jsondoc.Edits(recorded, config), func(e jsondoc.Edit) bool {
		for pointer := range unknown {
			if strings.HasPrefix(e.Path, pointer+"/") || e.Path == pointer && e.How == jsondoc.Changed {
				return false
			}
		}
		return true
	})
}
