package content

import (
	"encoding/json"

	"deployster/internal/base/jsondoc"
)

// Upgrades returns the steps between formats of the state file, by the format that each
// begins with. A change of the format needs a higher Format, a step here, and a fixture in
// testdata: TestFormats_AreReadAndTheNewestIsWritten checks this. All that format 2 adds to format 1 is optional, so that
// step changes nothing.
func Upgrades() map[int]jsondoc.Upgrade {
	return map[int]jsondoc.Upgrade{1: func(map[string]json.RawMessage) error { return nil }}
}
