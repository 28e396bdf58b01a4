package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
)

// noResources is the text of an empty set of resources in a state file. It cannot occur inside
// a string, where its quotes would be escaped, and no other member has so little indentation.
const noResources = "\n  \"resources\": {}"

// Encode returns the bytes of the state file: indented, keys in a stable order, a newline
// at the end. It encodes the entries on all processors, since there may be a hundred
// thousand.
func (s Snapshot) Encode() ([]byte, error) {
	resources := nested(s.Resources)
	s.Resources = nil
	rest, err := s.Canonical()
	if err != nil {
		return nil, err
	}
	compact, err := jsondoc.Encode(rest)
	if err != nil {
		return nil, err
	}
	frame, err := indented(compact, "")
	if err != nil {
		return nil, err
	}
	frame = append(frame, '\n')
	if len(resources) == 0 {
		return frame, nil
	}
	members, err := parallel.TryMap(slices.Sorted(maps.Keys(resources)), func(addr string) ([]byte, error) {
		return encodeEntry(addr, resources[addr])
	})
	if err != nil {
		return nil, err
	}
	split := bytes.Index(frame, []byte(noResources)) + len(noResources) - 1 // between its braces
	last := len(members) - 1
	members[0] = slices.Concat(frame[:split], members[0])
	members[last] = slices.Concat(members[last], []byte("\n  "), frame[split:])
	return bytes.Join(members, []byte(",")), nil
}

// encodeEntry returns an entry as a member of the object of resources, on lines of its own.
func encodeEntry(addr string, e Entry) ([]byte, error) {
	e, err := e.Canonical()
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", addr, err)
	}
	compact, err := jsondoc.Encode(&e)
	if err != nil {
		return nil, err
	}
	lines, err := indented(compact, "    ")
	if err != nil {
		return nil, err
	}
	return slices.Concat(append(jsondoc.AppendText([]byte("\n    "), addr), ": "...), lines), nil
}

// indented returns a document spread over several lines; all but the first begin with the margin.
func indented(compact []byte, margin string) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(2 * len(compact))
	err := json.Indent(&out, compact, margin, "  ")
	return out.Bytes(), err
}

// Equal reports whether two states have the same bytes in a file.
func Equal(a, b Snapshot) bool {
	one, err := a.Encode()
	two, err2 := b.Encode()
	return err == nil && err2 == nil && bytes.Equal(one, two)
}
