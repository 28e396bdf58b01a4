package secret

import (
	"encoding/json"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// Lone returns a document that holds nothing but a value at a path, and the path in that document:
// steps that are numbers lead into lists of one element. A schema marks a value in it as in any other
// document.
func Lone(path string, value json.RawMessage) (doc json.RawMessage, at string) {
	steps := jsondoc.Pointer(path)
	doc = value
	if len(doc) == 0 {
		doc = json.RawMessage("null")
	}
	for i := len(steps) - 1; i >= 0; i-- {
		var around any = map[string]json.RawMessage{steps[i]: doc}
		if _, err := strconv.ParseUint(steps[i], 10, 31); err == nil {
			around, steps[i] = []json.RawMessage{doc}, "0"
		}
		outer, err := json.Marshal(around)
		if err != nil {
			return json.RawMessage("null"), ""
		}
		doc = outer
	}
	return doc, jsondoc.JoinPointer(steps)
}
