package workspace

import (
	"encoding/json"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/state"
)

// OutputDocument is one of `output -json`.
type OutputDocument struct {
	Sensitive bool            `json:"sensitive"`
	Type      any             `json:"type"` // as cty has it: "string", or ["object", {"NAME": TYPE}]
	Value     json.RawMessage `json:"value"`
}

// OutputDocuments returns what `output -json` prints: the keys are those of `terraform
// output -json`. Sensitive outputs have their values: programs that request them need
// them. The web page, events and records never have them.
func OutputDocuments(s state.Snapshot) (map[string]OutputDocument, error) {
	all := make(map[string]OutputDocument, len(s.Outputs))
	for name, o := range s.Outputs {
		tree, err := jsondoc.Value(o.Value)
		if err != nil {
			return nil, diag.Errorf("Damaged state file", "The output %q cannot be read: %s.", name, err)
		}
		shown := OutputDocument{Sensitive: o.Sensitive, Type: typeOf(tree), Value: o.Value}
		all[name] = shown
	}
	return all, nil
}

// typeOf describes a value's type as cty does in JSON: "string", or ["object",
// {"NAME": TYPE}] and ["tuple", [TYPE]].
func typeOf(tree any) any {
	switch tree := tree.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case json.Number:
		return "number"
	case []any:
		types := make([]any, len(tree))
		for i, item := range tree {
			types[i] = typeOf(item)
		}
		return []any{"tuple", types}
	case map[string]any:
		types := make(map[string]any, len(tree))
		for name, item := range tree {
			types[name] = typeOf(item)
		}
		return []any{"object", types}
	}
	return "dynamic" // null has no type of its own
}
