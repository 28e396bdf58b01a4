package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// upgrade is a step from one format of the state file to the next: it changes
// the members of the file's object.
type upgrade func(members map[string]json.RawMessage) error

// upgrades returns the steps, by the format that each begins with. A change of the format
// needs a higher Format, a step here, and a fixture in testdata: TestFormats checks this.
// All that format 2 adds to format 1 is optional, so that step changes nothing.
func upgrades() map[int]upgrade {
	return map[int]upgrade{1: func(map[string]json.RawMessage) error { return nil }}
}

// upgraded converts the bytes of a state file from an older format to a newer one.
func upgraded(data []byte, from, to int, steps map[int]upgrade) ([]byte, error) {
	if from == to {
		return data, nil
	}
	members, err := jsondoc.OwnObject(data)
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
