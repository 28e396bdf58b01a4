package images

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
)

// Limits of the answer of an image.
const (
	maxFields = 100 // of metadata
	maxLine   = 1 << 20
)

// member returns a member of an object by its name, in any case; an exact match wins.
func member(o map[string]json.RawMessage, name string) json.RawMessage {
	if raw, ok := o[name]; ok {
		return raw
	}
	for key, raw := range o {
		if strings.EqualFold(key, name) {
			return raw
		}
	}
	return nil
}

// text reads a member that must be a string.
func text(what string, raw json.RawMessage) (s string, err error) {
	switch {
	case raw == nil:
		return "", fmt.Errorf("%s is missing", what)
	case raw[0] != '"':
		return "", fmt.Errorf("%s is %s, and must be text", what, jsondoc.KindOf(raw))
	}
	return s, json.Unmarshal(raw, &s)
}

// version reads an object of strings.
func version(raw json.RawMessage) (artifact.Version, error) {
	if raw == nil {
		return nil, errors.New("the version is missing")
	}
	if raw[0] != '{' {
		return nil, fmt.Errorf("the version is %s, and must be an object of text", jsondoc.KindOf(raw))
	}
	v := artifact.Version{}
	if !bytes.Contains(raw, []byte("null")) && json.Unmarshal(raw, &v) == nil {
		return v, nil // the usual case
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	clear(v)
	for key, one := range members {
		s, err := text(fmt.Sprintf("%q of the version", key), one)
		if err != nil {
			return nil, err
		}
		v[key] = s
	}
	return v, nil
}

// metadata reads a list of names and values. Keys may be in any case; unknown ones are
// ignored. empty: a missing or null value is an empty string, as Concourse reads it.
func metadata(raw json.RawMessage, empty bool) (artifact.Metadata, error) {
	if raw == nil {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, fmt.Errorf("the metadata is %s, and must be a list", jsondoc.KindOf(raw))
	}
	if m, ok := plainMetadata(raw); ok {
		return m, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	if len(list) > maxFields {
		return nil, fmt.Errorf("the metadata has %d fields, and may have at most %d", len(list), maxFields)
	}
	var out artifact.Metadata
	for i, one := range list {
		if one[0] != '{' {
			return nil, fmt.Errorf("field %d of the metadata is %s, and must be an object", i+1, jsondoc.KindOf(one))
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(one, &members); err != nil {
			return nil, err
		}
		part := func(key string) (string, error) {
			raw := member(members, key)
			if empty && (raw == nil || string(raw) == "null") {
				return "", nil
			}
			return text(fmt.Sprintf("the %s of field %d of the metadata", key, i+1), raw)
		}
		name, err := part("name")
		if err != nil {
			return nil, err
		}
		value, err := part("value")
		if err != nil {
			return nil, err
		}
		out = append(out, artifact.Field{Name: name, Value: value})
	}
	return out, nil
}

// plainMetadata reads valid metadata. Errors in other metadata are reported by metadata.
func plainMetadata(raw json.RawMessage) (out artifact.Metadata, ok bool) {
	var list []struct{ Name, Value *string }
	if json.Unmarshal(raw, &list) != nil || len(list) > maxFields {
		return nil, false
	}
	for _, f := range list {
		if f.Name == nil || f.Value == nil {
			return nil, false
		}
		out = append(out, artifact.Field{Name: *f.Name, Value: *f.Value})
	}
	return out, true
}
