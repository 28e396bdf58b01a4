package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Unfulfilled describes the first difference between a state and its forecast, or returns
// "". Objects may have more members than were forecast; everything else must be equal.
func Unfulfilled(forecast, state json.RawMessage, unknown []string) string {
	if len(forecast) == 0 || bytes.Equal(forecast, state) {
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
	open := map[string]bool{}
	for _, pointer := range unknown {
		open[pointer] = true
	}
	return missing("state", "", want, have, open)
}

func missing(path, pointer string, want, have any, open map[string]bool) string {
	if open[pointer] {
		return ""
	}
	object, isObject := want.(map[string]any)
	list, isList := want.([]any)
	if there, ok := have.([]any); isList && ok && len(list) == len(there) {
		for i := range list {
			at := strconv.Itoa(i)
			if diff := missing(path+"["+at+"]", pointer+"/"+at, list[i], there[i], open); diff != "" {
				return diff
			}
		}
		return ""
	}
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
		at := pointer + JoinPointer([]string{key})
		if !there && !open[at] {
			return fmt.Sprintf("%s.%s is missing, though it was forecast", path, key)
		}
		if diff := missing(path+"."+key, at, value, got, open); diff != "" {
			return diff
		}
	}
	return ""
}
