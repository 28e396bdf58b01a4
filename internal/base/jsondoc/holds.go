package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Unfulfilled describes the first difference between a state and its forecast, or returns
// "". Objects may have more members than were forecast; everything else must be equal.
func Unfulfilled(forecast, state json.RawMessage) string {
	if len(forecast) == 0 {
		return ""
	}
	want, err := Value(forecast)
	if err != nil {
		return "the forecast cannot be read: " + err.Error()
	}
	have, err := Value(state)
	if err != nil {
		return "the state cannot be read: " + err.Error()
	}
	return missing("state", want, have)
}

func missing(path string, want, have any) string {
	object, isObject := want.(map[string]any)
	if !isObject {
		w, _ := json.Marshal(want) // both came from JSON
		h, _ := json.Marshal(have)
		if !bytes.Equal(w, h) {
			return fmt.Sprintf("%s is %s, the forecast was %s", path, h, w)
		}
		return ""
	}
	holder, isObject := have.(map[string]any)
	if !isObject {
		return fmt.Sprintf("%s is not an object, the forecast was one", path)
	}
	for key, value := range object {
		got, there := holder[key]
		if !there {
			return fmt.Sprintf("%s.%s is missing, though it was forecast", path, key)
		}
		if diff := missing(path+"."+key, value, got); diff != "" {
			return diff
		}
	}
	return ""
}
