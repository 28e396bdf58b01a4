package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
)

// decode reads the members of a state file of this format, all of whose keys
// must be known, with every document in canonical form.
func decode(members map[string]json.RawMessage) (Snapshot, error) {
	var s Snapshot
	rest := make(map[string]json.RawMessage, len(members))
	for key, value := range members {
		if key != "resources" {
			rest[key] = value
		}
	}
	content, err := json.Marshal(rest)
	if err == nil {
		err = decodeStrictly(content, &s)
	}
	if err == nil {
		s, err = s.canonical()
	}
	resources := members["resources"]
	if err != nil || resources == nil || jsondoc.KindOf(resources) == "null" {
		return s, err
	}
	entries, err := jsondoc.OwnObject(resources)
	if err == nil {
		s.Resources, err = decodeEntries(entries)
	}
	return s, err
}

func decodeStrictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// decodeEntries reads what is remembered of the resources, on all processors.
func decodeEntries(entries map[string]json.RawMessage) (map[string]Entry, error) {
	addresses := slices.Collect(maps.Keys(entries))
	out, errs := make(map[string]Entry, len(entries)), make([]error, len(addresses))
	var mu sync.Mutex
	parallel.For(len(addresses), func(from, to int) {
		known := interner{}
		var e Entry
		for i := from; i < to; i++ {
			e = Entry{}
			if err := decodeEntry(entries[addresses[i]], &e, known); err != nil {
				errs[i] = fmt.Errorf("resource %s: %w", addresses[i], err)
			}
			mu.Lock()
			out[addresses[i]] = e
			mu.Unlock()
		}
	})
	return out, errors.Join(errs...)
}

// interner keeps one copy of texts that are in many entries.
type interner map[string]string

func (k interner) one(text string) string {
	if kept, ok := k[text]; ok {
		return kept
	}
	k[text] = text
	return text
}

// decodeEntry reads one entry. What nearly all are made of is read by hand, since
// there may be a hundred thousand; anything else makes it ask encoding/json.
func decodeEntry(raw json.RawMessage, e *Entry, known interner) error {
	usual := true
	usual = jsondoc.Members(raw, func(key string, value json.RawMessage) {
		usual = usual && e.member(key, value, known)
	}) && usual
	if !usual {
		*e = Entry{}
		if err := decodeStrictly(raw, e); err != nil {
			return err
		}
	}
	var err error
	*e, err = e.canonical()
	return err
}

// member takes one member, or says that it takes more to read it.
func (e *Entry) member(key string, value json.RawMessage, known interner) bool {
	text := func(to *string) bool {
		*to = known.one(jsondoc.Text(value))
		return value[0] == '"'
	}
	switch key {
	case "type":
		return text(&e.Type)
	case "digest":
		return text(&e.Digest)
	case "on_remove":
		return text(&e.OnRemove)
	case "config":
		e.Config = value
		return true
	case "state":
		e.State = value
		return true
	case "valid_at":
		return e.ValidAt.UnmarshalJSON(value) == nil
	case "dependencies":
		return json.Unmarshal(value, &e.Dependencies) == nil
	case "mounts":
		return decodeStrictly(value, &e.Mounts) == nil
	}
	return false
}
