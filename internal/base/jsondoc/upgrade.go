package jsondoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
)

// Upgrade is a step from one format of a document to the next: it changes the members of
// the document's object.
type Upgrade func(members map[string]json.RawMessage) error

// Upgraded converts a document, whose member "format" is its format, from an older format to
// a newer one by steps, given by the format that each begins with.
func Upgraded(data []byte, from, to int, steps map[int]Upgrade) ([]byte, error) {
	if from == to {
		return data, nil
	}
	members, err := OwnObject(data)
	if err != nil {
		return nil, err
	}
	members = maps.Clone(members)
	for ; from < to; from++ {
		step, known := steps[from]
		if !known {
			return nil, fmt.Errorf("there is no way from its format %d to %d", from, from+1)
		}
		if err := step(members); err != nil {
			return nil, fmt.Errorf("from format %d to %d: %w", from, from+1, err)
		}
		members["format"] = json.RawMessage(strconv.Itoa(from + 1))
	}
	return json.Marshal(members)
}
