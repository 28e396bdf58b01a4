package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
)

// noResources is how a state without any is written. In the texts of a state its
// quotes would be escaped, and nothing else stands on a line so far to the left.
const noResources = "\n  \"resources\": {}"

// Encode gives the bytes of the state file: indented, keys in a stable order,
// a newline at the end. The entries are encoded on all processors: there may be a
// hundred thousand.
func (s Snapshot) Encode() ([]byte, error) {
	resources := nested(s.Resources)
	s.Resources = nil
	rest, err := s.canonical()
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
	members, err := encodeEntries(resources)
	if err != nil {
		return nil, err
	}
	split := bytes.Index(frame, []byte(noResources)) + len(noResources) - 1 // between its braces
	size := len(frame) + len(resources) + len("\n  ")
	for _, member := range members {
		size += len(member)
	}
	out := append(make([]byte, 0, size), frame[:split]...)
	for i, member := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, member...)
	}
	return append(append(out, "\n  "...), frame[split:]...), nil
}

// encodeEntries gives the members of the object of resources, each on lines of
// its own.
func encodeEntries(resources map[string]Entry) ([][]byte, error) {
	addresses := slices.Sorted(maps.Keys(resources))
	members, failed := make([][]byte, len(addresses)), make([]error, len(addresses))
	parallel.For(len(addresses), func(from, to int) {
		for i := from; i < to; i++ {
			members[i], failed[i] = encodeEntry(addresses[i], resources[addresses[i]])
		}
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return members, nil
}

func encodeEntry(addr string, e Entry) ([]byte, error) {
	e, err := e.canonical()
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

// indented is a document over many lines, each but the first after a margin.
func indented(compact []byte, margin string) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(2 * len(compact))
	err := json.Indent(&out, compact, margin, "  ")
	return out.Bytes(), err
}
