package claims

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/internal/base/durable"
)

// Record is what one state has declared on a machine.
type Record struct {
	Lineage string   `json:"lineage"`
	State   string   `json:"state"` // its place, for people
	Sets    []Set    `json:"sets,omitempty"`
	Objects []Object `json:"objects,omitempty"` // sorted
	Purges  []Object `json:"purges,omitempty"`  // what it destroys now, sorted
}

// Object stands for an object: two of the same kind and identity are equal.
type Object string

// ObjectOf returns the object of a kind with an identity.
func ObjectOf(kind, identity string) Object {
	sum := sha256.Sum256([]byte(kind + "\x00" + identity))
	return Object(hex.EncodeToString(sum[:16]))
}

// Set is an exclusive set.
type Set struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Within Within `json:"within,omitzero"`
}

// Within narrows a set; "" = it does not.
type Within struct {
	Directory string `json:"directory,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
}

// WithinOf returns how a config narrows a set.
func WithinOf(config json.RawMessage) (w Within) {
	var said map[string]any
	if json.Unmarshal(config, &said) == nil {
		w.Directory, _ = said["directory"].(string)
		w.Prefix, _ = said["prefix"].(string)
	}
	return w
}

// Overlaps reports whether two sets may list the same object.
func (s Set) Overlaps(other Set) bool {
	if s.Kind != other.Kind {
		return false
	}
	apart := func(a, b string) bool {
		return a != "" && b != "" && !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a)
	}
	below := func(dir string) string {
		if dir == "" {
			return ""
		}
		return strings.TrimSuffix(filepath.Clean(dir), "/") + "/"
	}
	return !apart(below(s.Within.Directory), below(other.Within.Directory)) && !apart(s.Within.Prefix, other.Within.Prefix)
}

// Has reports whether the state of a record has declared an object.
func (r *Record) Has(o Object) bool {
	_, has := slices.BinarySearch(r.Objects, o)
	return has
}

// Destroys reports whether the state of a record destroys an object now.
func (r *Record) Destroys(o Object) bool {
	_, does := slices.BinarySearch(r.Purges, o)
	return does
}

// directory returns where records are kept below a data directory.
func directory(data string) string { return filepath.Join(data, "declared") }

// Path returns the file of the record of a state.
func Path(data, lineage string) string { return filepath.Join(directory(data), lineage) }

// Step is what a Request is for.
type Step string

// The steps.
const (
	// Read reads the records of other states.
	Read Step = "read"
	// Begin records what a state declares and what it destroys, before it acts: what it had declared before still counts.
	// Nothing is recorded where that is in conflict with another state. Of two states that begin, the second sees the first.
	Begin Step = "begin"
	// End records what a state declares after it has acted: what it had declared before still counts.
	End Step = "end"
	// EndAll is End for a record of everything that the state declares on the machine.
	EndAll Step = "end_all"
)

// Request is a record, and what to do with it.
type Request struct {
	Step   Step   `json:"step"`
	Record Record `json:"record"` // its lineage is that of the state of the request
}

// Serve does what a request is for on the machine of a data directory. It returns the records of other states, sorted by
// lineage.
func Serve(ctx context.Context, data string, q Request) ([]Record, error) {
	r := q.Record
	if q.Step == Read {
		return others(data, r.Lineage)
	}
	if r.Lineage == "" || strings.ContainsAny(r.Lineage, "/\x00") || r.Lineage[0] == '.' {
		return nil, fmt.Errorf("the client's state has no lineage that names one: %q", r.Lineage)
	}
	if err := os.MkdirAll(directory(data), 0o700); err != nil {
		return nil, err
	}
	lock, err := durable.WaitLock(ctx, filepath.Join(directory(data), ".lock"), true, "deployster")
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process anyway
	list, err := others(data, r.Lineage)
	if err != nil {
		return nil, err
	}
	if c := r.Conflict(list); c != nil && (q.Step == Begin || c.Sets[0] != "") {
		return list, nil
	}
	path := Path(data, r.Lineage)
	before, err := read(path)
	if err != nil {
		return nil, err
	}
	if q.Step != EndAll {
		r.Objects = slices.Concat(r.Objects, before.Objects)
	}
	if q.Step != Begin {
		r.Purges = nil
	}
	r.Objects, r.Purges = sorted(r.Objects), sorted(r.Purges)
	return list, write(path, r, before)
}

// Conflict is why a state may not act on a machine because of another one.
type Conflict struct {
	With Record
	// Sets are the names of the overlapping sets, its own first; "" = it is about an object.
	Sets [2]string
	// Purges reports that the other state destroys an object that this one declares; else it is the other way.
	Purges bool
	Object Object
}

// Conflict returns why a state may not act because of others; nil = it may.
func (r *Record) Conflict(others []Record) *Conflict {
	for _, other := range others {
		for _, mine := range r.Sets {
			for _, theirs := range other.Sets {
				if mine.Overlaps(theirs) {
					return &Conflict{With: other, Sets: [2]string{mine.Name, theirs.Name}}
				}
			}
		}
		for _, o := range r.Purges {
			if other.Has(o) {
				return &Conflict{With: other, Object: o}
			}
		}
		for _, o := range r.Objects {
			if other.Destroys(o) {
				return &Conflict{With: other, Object: o, Purges: true}
			}
		}
	}
	return nil
}

// others returns the records of the other states on the machine of a data directory.
func others(data, lineage string) ([]Record, error) {
	files, err := os.ReadDir(directory(data))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Record
	for _, f := range files {
		if f.Name() == lineage || f.Name()[0] == '.' || f.IsDir() {
			continue
		}
		r, err := read(Path(data, f.Name()))
		if err != nil {
			return nil, err
		}
		if r.Lineage == f.Name() {
			list = append(list, r)
		}
	}
	return list, nil
}

// write writes a record, if it differs from the one before. A state that has declared nothing has none.
func write(path string, now, before Record) error {
	if len(now.Sets)+len(now.Objects)+len(now.Purges) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	content, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if was, err := json.Marshal(before); err == nil && string(was) == string(content) {
		return nil
	}
	return durable.WriteFile(path, content, 0o600)
}

// read reads a record; the zero Record = there is none.
func read(path string) (Record, error) {
	var r Record
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fmt.Errorf("the record %s of what another state has declared here cannot be read: %w", path, err)
	}
	return r, nil
}

func sorted(list []Object) []Object {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
