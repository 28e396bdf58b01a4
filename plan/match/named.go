package match

import (
	"encoding/json"
	"strconv"
	"strings"
)

// IdentityOf returns the kind of an object, and a text that is its identity: the values that name it, in the order of its type.
// Two objects of one kind with different identities have different texts. false = not all values are known.
func IdentityOf(t Object) (kind, identity string, known bool) {
	kind = t.Type.kind()
	values, known := t.values(t.Type.Names)
	if !known {
		return kind, "", false
	}
	for i, value := range values {
		var text string
		if json.Unmarshal([]byte(value), &text) == nil {
			value = text
		}
		if i < len(values)-1 && (value == "" || strings.ContainsAny(value, " \"\\")) {
			value = strconv.Quote(value)
		}
		values[i] = value
	}
	return kind, strings.Join(values, " "), true
}
