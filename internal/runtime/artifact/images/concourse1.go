package images

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
)

// The inputs of a v1 image, with exactly these keys in this order: some images refuse
// unknown keys.
type checkV1 struct {
	Source  json.RawMessage  `json:"source"`
	Version artifact.Version `json:"version,omitempty"`
}

type getV1 struct {
	Source  json.RawMessage  `json:"source"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Version artifact.Version `json:"version"`
}

type putV1 struct {
	Source json.RawMessage `json:"source"`
	Params json.RawMessage `json:"params,omitempty"`
}

// unlessEmpty returns nil for an empty object.
func unlessEmpty(o json.RawMessage) json.RawMessage {
	if string(o) == "{}" {
		return nil
	}
	return o
}

// firstValue returns the first JSON value of an answer, which alone counts; nil if there
// is none. The protocol may still forbid that value.
func firstValue(answer []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(answer)) == 0 {
		return nil, nil
	}
	var first json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&first); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends in the middle of a value")
		}
		return nil, err
	}
	return first, nil
}

// readVersions reads the answer of check: a list, oldest first. null and an empty answer
// mean an empty list.
func (l *listed) readVersions(answer []byte) error {
	first, err := firstValue(answer)
	if err != nil || first == nil || string(first) == "null" {
		return err
	}
	if first[0] != '[' {
		return fmt.Errorf("it is %s, and must be a list of versions", jsondoc.KindOf(first))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(first, &list); err != nil {
		return err
	}
	for i, one := range list { // one by one: there may be more versions than values are allowed in a document
		var v artifact.Version
		err := jsondoc.Check(one)
		if err == nil {
			v, err = version(one)
		}
		if err == nil {
			err = l.add(artifact.Versioned{Version: v})
		}
		if err != nil {
			return fmt.Errorf("version %d: %w", i+1, err)
		}
	}
	return nil
}

// readMade reads the answer of in or out.
func readMade(answer []byte) (v artifact.Version, m artifact.Metadata, err error) {
	first, err := firstValue(answer)
	if err != nil {
		return nil, nil, err
	}
	if first == nil {
		return nil, nil, errors.New("it is empty")
	}
	if err := jsondoc.Check(first); err != nil {
		return nil, nil, err
	}
	if first[0] != '{' {
		return nil, nil, fmt.Errorf("it is %s, and must be an object", jsondoc.KindOf(first))
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal(first, &o); err != nil {
		return nil, nil, err
	}
	if raw := member(o, "version"); raw != nil && string(raw) != "null" {
		if v, err = version(raw); err != nil {
			return nil, nil, err
		}
	}
	if raw := member(o, "metadata"); string(raw) != "null" {
		m, err = metadata(raw, true)
	}
	return v, m, err
}
