package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"deployster/internal/durable"
	"deployster/internal/strictjson"
)

// paths are the files of one state.
type paths struct {
	state, journal, lock string
}

// resolve finds the files of a state. A symbolic link to a state file leads to
// the lock and the journal beside its target, so that all names of one state
// meet there.
func resolve(path string) (paths, error) {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return paths{}, refuse(err, "No such directory",
			"The state file is to be %s, but the directory %s does not exist. Create it, or name another file with -state.", path, dir)
	} else if err == nil && !info.IsDir() {
		return paths{}, refuse(os.ErrInvalid, "Not a directory", "The state file is to be %s, but %s is not a directory.", path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return paths{}, refuse(os.ErrInvalid, "Not a regular file", "The state file is to be %s, but that is something else. Name another file with -state.", path)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return paths{state: path, journal: path + ".journal", lock: path + ".lock"}, nil
}

// readFile reads the state file; a missing one is an empty Snapshot.
func readFile(path string) (Snapshot, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Snapshot{Format: Format}.clone(), nil
	}
	if err != nil {
		return Snapshot{}, refuse(err, "Cannot read the state file", "%s: %s. Nothing was changed.", path, err)
	}
	return parse(path, data)
}

// restore is what to do about a state file that is not right.
const restore = "It was not changed. Put the right file back from a backup or from version control. " +
	"If there is none, move this one away: resources that exist will be found again as they are, only removals are forgotten."

// parse reads the bytes of a state file. What is not surely a whole state file
// of this format is refused, and never taken for an empty one.
func parse(path string, data []byte) (Snapshot, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Snapshot{}, refuse(ErrDamaged, "The state file is empty",
			"%s has no content, which deployster never writes: something cut it off. %s", path, restore)
	}
	members, err := strictjson.Object(data)
	if err != nil {
		return Snapshot{}, refuse(ErrDamaged, "The state file is damaged", "%s cannot be read: %s. %s", path, err, restore)
	}
	var format int
	if json.Unmarshal(members["format"], &format) != nil || members["lineage"] == nil || format < 1 {
		return Snapshot{}, refuse(ErrForeign, "Not a state file of deployster",
			"%s has no format and lineage of deployster's. It was not changed. Name another file with -state.", path)
	}
	if format > Format {
		return Snapshot{}, refuse(ErrNewer, "The state file is of a newer deployster",
			"%s has the format %d, and this deployster knows %d. It was not changed. Use the version of deployster that wrote it, or a later one.", path, format, Format)
	}
	var s Snapshot
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	if err == nil {
		s, err = s.canonical()
	}
	if err == nil && (s.Lineage == "" || members["resources"] == nil) {
		err = errors.New("the lineage or the resources are missing")
	}
	if err != nil {
		return Snapshot{}, refuse(ErrDamaged, "The state file is damaged", "%s cannot be read: %s. %s", path, err, restore)
	}
	return s, nil
}

// canonical gives a copy with every document in canonical form.
func (s Snapshot) canonical() (Snapshot, error) {
	s = s.clone()
	for addr, e := range s.Resources {
		c, err := e.canonical()
		if err != nil {
			return s, fmt.Errorf("resource %s: %w", addr, err)
		}
		s.Resources[addr] = c
	}
	for name, o := range s.Outputs {
		c, err := o.canonical()
		if err != nil {
			return s, fmt.Errorf("output %s: %w", name, err)
		}
		s.Outputs[name] = c
	}
	return s, nil
}

// Encode gives the bytes of the state file: indented, keys in a stable order,
// a newline at the end.
func (s Snapshot) Encode() ([]byte, error) {
	s, err := s.canonical()
	if err != nil {
		return nil, err
	}
	compact, err := strictjson.Encode(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// appender is the log that a journal is written to.
type appender interface {
	Write(b []byte) (end int64, err error)
	Sync(end int64) error
	Durable() int64
	Close() error
}

// files are the writes of a Store. It is a seam for faults in tests.
type files struct {
	write     func(path string, s Snapshot) error
	createLog func(path string) (appender, error)
	remove    func(path string) error
}

func disk() files {
	return files{
		write:     writeFile,
		createLog: func(path string) (appender, error) { return durable.CreateLog(path, 0o600) },
		remove:    durable.Remove,
	}
}

func writeFile(path string, s Snapshot) error {
	data, err := s.Encode()
	if err == nil {
		err = durable.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return refuse(err, "Cannot write the state file", "%s: %s.", path, err)
	}
	return nil
}
