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

// Others returns the records of the other states on the machine of a data directory, sorted by lineage.
func Others(data, lineage string) ([]Record, error) {
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

// Begin records what a state declares, and what it destroys, before it acts: what it had declared before still counts.
// It returns the records of the other states; of two states that begin, the second sees the first.
func Begin(ctx context.Context, data string, r Record) ([]Record, error) {
	return under(ctx, data, r, func(before Record) Record {
		r.Objects = slices.Concat(r.Objects, before.Objects)
		return r
	})
}

// End records what a state declares after it has acted. all reports that r has everything that the state declares there: else
// what it had declared before still counts.
func End(ctx context.Context, data string, r Record, all bool) error {
	r.Purges = nil
	_, err := under(ctx, data, r, func(before Record) Record {
		if !all {
			r.Objects = slices.Concat(r.Objects, before.Objects)
		}
		return r
	})
	return err
}

// under writes the record that next makes from the one before, and returns those of other states.
func under(ctx context.Context, data string, r Record, next func(before Record) Record) ([]Record, error) {
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
	others, err := Others(data, r.Lineage)
	if err != nil {
		return nil, err
	}
	path := Path(data, r.Lineage)
	before, err := read(path)
	if err != nil {
		return nil, err
	}
	now := next(before)
	now.Objects, now.Purges = sorted(now.Objects), sorted(now.Purges)
	return others, write(path, now, before)
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
