package config

import (
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// plugPaths returns a config in which a plug, where its type expects one, is the path at which
// it is mounted: plug.site is /plugs/site.
func plugPaths(value json.RawMessage, pointers []string) json.RawMessage {
	if len(pointers) == 0 {
		return value
	}
	doc, err := jsondoc.Value(value)
	if err != nil {
		return value // it is reported where it is read
	}
	changed := false
	for _, pointer := range pointers {
		steps := jsondoc.Pointer(pointer)
		parent, _ := jsondoc.At(doc, steps[:len(steps)-1]).(map[string]any)
		last := steps[len(steps)-1]
		if name, is := plugName(parent[last]); is {
			parent[last], changed = protocol.PlugsDir+name, true
		}
	}
	if !changed {
		return value
	}
	if out, err := jsondoc.Encode(doc); err == nil {
		return out
	}
	return value
}

// plugName returns the name of the plug that a value is: plug.NAME has these three members.
func plugName(value any) (name string, is bool) {
	object, _ := value.(map[string]any)
	_, path := object["path"].(string)
	_, mode := object["read_only"].(bool)
	name, named := object["name"].(string)
	return name, path && mode && named && len(object) == 3
}
