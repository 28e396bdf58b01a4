package content

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"unique"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
)

// decode reads the members of a state file of this format, and the entries of its resources, and puts
// every document into canonical form. An unknown key is an error.
func decode(members, resources map[string]json.RawMessage) (Snapshot, error) {
	var s Snapshot
	content, err := json.Marshal(members)
	if err == nil {
		err = jsondoc.DecodeStrict(content, &s)
	}
	if err == nil {
		s, err = s.Canonical()
	}
	if err == nil && resources != nil {
		s.Resources, err = decodeEntries(resources)
	}
	if err == nil {
		err = flatten(s.Resources)
	}
	return s, err
}

// decodeEntries reads the entries of the resources, on all processors.
func decodeEntries(entries map[string]json.RawMessage) (map[string]Entry, error) {
	addresses := slices.Collect(maps.Keys(entries))
	out, errs := make(map[string]Entry, len(entries)), make([]error, len(addresses))
	var mu sync.Mutex
	parallel.For(len(addresses), func(from, to int) {
		for i := from; i < to; i++ {
			e, err := decodeEntry(entries[addresses[i]])
			if err != nil {
				errs[i] = fmt.Errorf("resource %s: %w", addresses[i], err)
			}
			mu.Lock()
			out[addresses[i]] = e
			mu.Unlock()
		}
	})
	return out, errors.Join(errs...)
}

// decodeEntry reads one entry. It shares the memory of texts that many entries have.
func decodeEntry(raw json.RawMessage) (Entry, error) {
	var e Entry
	if err := jsondoc.DecodeStrict(raw, &e); err != nil {
		return Entry{}, err
	}
	for _, text := range []*string{&e.Type, &e.Digest, &e.OnRemove} {
		*text = unique.Make(*text).Value()
	}
	return e.Canonical()
}
