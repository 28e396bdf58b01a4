package protocol

import (
	"encoding/json"
	"fmt"

	"deployster/protocol/internal/jsonvalue"
)

// withDocs adds descriptions to the properties of a schema, by their names.
func withDocs(schema json.RawMessage, docs map[string]string) (json.RawMessage, error) {
	if len(docs) == 0 {
		return schema, nil
	}
	var s map[string]any
	if err := jsonvalue.Decode(schema, &s, false); err != nil {
		return nil, err
	}
	properties, _ := s["properties"].(map[string]any)
	for name, doc := range docs {
		property, ok := properties[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the description of %s has no field", name)
		}
		property["description"] = doc
	}
	return jsonvalue.Encode(s)
}
