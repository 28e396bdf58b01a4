package fingerprint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"deployster/protocol/internal/jsonvalue"
	"deployster/protocol/internal/schema"
)

// Key is the member of the state that holds a salted fingerprint of each
// secret, by the secret's JSON pointer in the config. A type cannot compare a secret
// with the real state, and the state must not hold it. A secret whose fingerprint
// differs is STALE until actions have run with it.
const Key = "secret_fingerprints"

// saltSize is the size of a salt in bytes.
const saltSize = 16

// secretsOf returns the values of the fields marked writeOnly, by their JSON
// pointers, and removes them from the config. A top-level field whose name the state
// has too is removed but not returned: its value is compared with the state.
func secretsOf(config map[string]any, t, state reflect.Type) map[string]any {
	found, compared := map[string]any{}, schema.FieldNames(state)
	takeSecrets(config, t, "", found)
	for pointer := range found {
		if name, _, nested := strings.Cut(pointer[1:], "/"); !nested && compared[jsonvalue.Unescape(name)] {
			delete(found, pointer)
		}
	}
	return found
}

func takeSecrets(v any, t reflect.Type, at string, found map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		fields := schema.Members(t)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pointer, inner := at+"/"+jsonvalue.Escape(key), schema.Element(t)
			if f, ok := fields[key]; ok {
				if inner = f.Type; f.Tag.Get("writeOnly") == "true" {
					if v[key] != nil {
						found[pointer] = v[key]
					}
					delete(v, key)
					continue
				}
			}
			takeSecrets(v[key], inner, pointer, found)
		}
	case []any:
		for i, item := range v {
			takeSecrets(item, schema.Element(t), at+"/"+strconv.Itoa(i), found)
		}
	}
}

// Needed reports whether a type has a field that is marked writeOnly.
func Needed(t reflect.Type, open ...reflect.Type) bool {
	t = schema.StructOf(t)
	if slices.Contains(open, t) {
		return false
	}
	return slices.ContainsFunc(schema.Fields(t), func(f schema.Field) bool {
		return f.Tag.Get("writeOnly") == "true" || Needed(f.Type, append(open, t)...)
	})
}

// Of returns the fingerprints of the secrets in a config. Each holds its
// salt: the salt of the last fingerprint, or else one derived from the image, the
// pointer and the rest of the config, so that the same question has the same answer.
func Of[C any](image string, config C, state reflect.Type, last map[string]string) (map[string]string, error) {
	raw, err := jsonvalue.Encode(config)
	if err != nil {
		return nil, err
	}
	var rest map[string]any
	if err := jsonvalue.Decode(raw, &rest, false); err != nil {
		return nil, err
	}
	out := map[string]string{}
	secrets := secretsOf(rest, reflect.TypeFor[C](), state)
	named, err := jsonvalue.Encode(rest)
	if err != nil {
		return nil, err
	}
	for pointer, secret := range secrets {
		value, err := jsonvalue.Encode(secret)
		if err != nil {
			return nil, err
		}
		text, _, _ := strings.Cut(last[pointer], ":")
		salt, err := hex.DecodeString(text)
		if err != nil || len(salt) != saltSize {
			sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %s", image, pointer, named))
			salt = sum[:saltSize]
		}
		mac := hmac.New(sha256.New, salt)
		mac.Write(value)
		out[pointer] = hex.EncodeToString(salt) + ":" + hex.EncodeToString(mac.Sum(nil))
	}
	return out, nil
}

// Recorded returns the fingerprints in a recorded state. known is false
// if there is no state, which differs from a state without fingerprints.
func Recorded(state json.RawMessage) (last map[string]string, known bool) {
	if len(state) == 0 || string(state) == "null" {
		return nil, false
	}
	var s struct {
		Fingerprints map[string]string `json:"secret_fingerprints"`
	}
	_ = json.Unmarshal(state, &s) // may be from another version of the type: then no fingerprints are known
	return s.Fingerprints, true
}

// Changed returns the JSON pointers of the secrets that differ from those
// recorded with the state. It returns none if there is no recorded state, and none
// right after actions, because those ran with the present secrets.
func Changed(last, now map[string]string, known bool, after []string) []string {
	if !known || len(after) > 0 {
		return nil
	}
	var changed []string
	for pointer := range now {
		if last[pointer] != now[pointer] {
			changed = append(changed, pointer)
		}
	}
	for pointer := range last {
		if _, there := now[pointer]; !there {
			changed = append(changed, pointer)
		}
	}
	slices.Sort(changed)
	return changed
}

// Add adds fingerprints to a state, unless it is nil.
func Add(state json.RawMessage, prints map[string]string) (json.RawMessage, error) {
	if state == nil || len(prints) == 0 {
		return state, nil
	}
	var members map[string]json.RawMessage
	if err := jsonvalue.Decode(state, &members, false); err != nil {
		return nil, err
	}
	var err error
	if members[Key], err = jsonvalue.Encode(prints); err != nil {
		return nil, err
	}
	return jsonvalue.Encode(members)
}

// AddToSchema adds the fingerprints to the schema of a state.
func AddToSchema(schema json.RawMessage) (json.RawMessage, error) {
	var s map[string]any
	if jsonvalue.Decode(schema, &s, false) != nil || s == nil {
		return schema, nil // the schema is true, which allows everything
	}
	properties, _ := s["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		s["properties"] = properties
	}
	if _, taken := properties[Key]; taken {
		return nil, fmt.Errorf("the state must not have a member %q: there this package keeps what it knows of the secrets",
			Key)
	}
	properties[Key] = map[string]any{"type": "object", "writeOnly": true,
		"additionalProperties": map[string]any{"type": "string"},
		"description":          "salted fingerprints of the secrets in the config, by their JSON pointers"}
	return jsonvalue.Encode(s)
}
