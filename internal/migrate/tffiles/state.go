package tffiles

import (
	"encoding/json"
	"fmt"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// State is a Terraform state file of version 4, as far as it is needed.
type State struct {
	Version   int `json:"version"`
	Outputs   map[string]StateOutput
	Resources []StateResource `json:"resources"`
}

// StateOutput is an output of the root module.
type StateOutput struct {
	Value     json.RawMessage `json:"value"`
	Sensitive bool            `json:"sensitive"`
}

// StateResource is a resource with its instances.
type StateResource struct {
	Module    string     `json:"module"`
	Mode      string     `json:"mode"`
	Type      string     `json:"type"`
	Name      string     `json:"name"`
	Instances []Instance `json:"instances"`
}

// Instance is an instance of a resource.
type Instance struct {
	Key        any             `json:"index_key"`
	Status     string          `json:"status"`
	Version    int64           `json:"schema_version"`
	Attributes json.RawMessage `json:"attributes"`
	Sensitive  [][]step        `json:"sensitive_attributes"`
	Private    []byte          `json:"private"`
	Deposed    string          `json:"deposed"`
}

// step is a step of a path: a name, or a value with its type.
type step struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// Pointers returns the JSON pointers of the sensitive values.
func (i Instance) Pointers() (list []string) {
	for _, steps := range i.Sensitive {
		var path []string
		for _, s := range steps {
			var key struct{ Value any }
			if s.Type == "get_attr" {
				key.Value = jsondoc.Text(s.Value)
			} else if json.Unmarshal(s.Value, &key) != nil {
				break // the whole enclosing value is sensitive
			}
			path = append(path, fmt.Sprint(key.Value))
		}
		list = append(list, jsondoc.JoinPointer(path))
	}
	return list
}

// InstanceKey returns the instance key in brackets, "" without one.
func (i Instance) InstanceKey() string {
	switch key := i.Key.(type) {
	case string:
		return "[" + strconv.Quote(key) + "]"
	case float64:
		return fmt.Sprintf("[%d]", int(key))
	}
	return ""
}
