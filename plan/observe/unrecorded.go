package observe

import (
	"encoding/json"
	"strconv"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secretref"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
	"deployster/state"
)

// Recordable returns a config without the values that its schema declares must not be recorded,
// such as a write-only attribute of a Terraform provider.
func Recordable(schemas typeschema.Reader, ty protocol.Type, config json.RawMessage) json.RawMessage {
	return edited(config, schemas.Unrecorded(ty.ConfigSchema, config), func(object map[string]any, key string, _ []string) {
		delete(object, key)
	})
}

// Completed returns an entry with the defaults of its schema, which earlier versions did not record,
// and with the values that are not recorded, as they are in a config: whether they have changed is
// not known, so they count as unchanged.
func Completed(schemas typeschema.Reader, ty protocol.Type, e state.Entry, config json.RawMessage) state.Entry {
	e.Config = schemas.WithDefaults(ty.ConfigSchema, e.Config)
	places := schemas.Unrecorded(ty.ConfigSchema, config)
	if len(places) == 0 || len(e.Config) == 0 {
		return e
	}
	now, err := jsondoc.Value(config)
	if err != nil {
		return e
	}
	e.Config = edited(e.Config, places, func(object map[string]any, key string, steps []string) {
		object[key] = jsondoc.At(now, steps)
	})
	return e
}

// edited returns a document in which the members at the pointers are changed, where the
// objects that they belong to exist.
func edited(document json.RawMessage, pointers []string, change func(object map[string]any, key string, steps []string)) json.RawMessage {
	if len(pointers) == 0 {
		return document
	}
	tree, err := jsondoc.Value(document)
	if err != nil {
		return document
	}
	for _, pointer := range pointers {
		steps := jsondoc.Pointer(pointer)
		if len(steps) == 0 { // the whole config
			return json.RawMessage("{}")
		}
		last := len(steps) - 1
		if object, ok := jsondoc.At(tree, steps[:last]).(map[string]any); ok {
			change(object, steps[last], steps)
		} else if list, ok := jsondoc.At(tree, steps[:last]).([]any); ok {
			if i, err := strconv.Atoi(steps[last]); err == nil && i >= 0 && i < len(list) {
				list[i] = nil
			}
		}
	}
	out, err := jsondoc.Encode(tree)
	if err != nil {
		return document
	}
	return out
}

// NamesSecrets reports whether a config has what stands for the value of a secret block.
func NamesSecrets(config json.RawMessage) bool { return secretref.In(config) }
