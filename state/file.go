package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
)

// paths are the files of one state.
type paths struct {
	state, journal, lock string
	copies               string // the directory of earlier state files
	keys                 *encryption.Keyring
}

// Unreliable warns of a state on a file system where a lock may not hold
// between machines; nil = it is a local one, or it cannot be told.
func Unreliable(path string) *diag.Diagnostic {
	p, err := resolve(path)
	if err != nil {
		return nil // said by whoever opens it
	}
	name, err := durable.SharedFS(p.state)
	if err != nil || name == "" {
		return nil
	}
	return diag.Warningf("The state is on a network file system",
		"%s is on %s, where a lock may hold on one machine only. Let one machine at a time apply, or keep the state on a local disk.", p.state, name)
}

// resolve finds the files of a state. A symbolic link to a state file leads to
// the lock and the journal beside its target, so that all names of one state
// meet there, also when there is no target yet.
func resolve(path string, keys ...*encryption.Keyring) (paths, error) {
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
	path, err := durable.Follow(path)
	if err != nil {
		return paths{}, refuse(err, "Cannot follow the state file's link", "%s. Name another file with -state.", err)
	}
	p := paths{state: path, journal: path + ".journal", lock: path + ".lock", copies: path + ".copies"}
	for _, k := range keys {
		p.keys = k
	}
	return p, nil
}

// readFile reads the state file; a missing one is an empty Snapshot.
func readFile(p paths) (Snapshot, error) {
	data, err := os.ReadFile(p.state)
	if errors.Is(err, os.ErrNotExist) {
		return Snapshot{Format: Format}.clone(), nil
	}
	if err != nil {
		return Snapshot{}, refuse(err, "Cannot read the state file", "%s: %s. Nothing was changed.", p.state, err)
	}
	if data, err = p.open(p.state, data); err != nil {
		return Snapshot{}, err
	}
	return parse(p.state, data)
}

// restore is what to do about a state file that is not right.
const restore = "It was not changed. `deployster state restore` puts back one of the last copies, which are kept beside it. " +
	"If there is none that fits, move this one away: resources that exist will be found again as they are, only removals are forgotten."

// parse reads the bytes of a state file. What is not surely a whole state file
// of this format is refused, and never taken for an empty one.
func parse(path string, data []byte) (Snapshot, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Snapshot{}, refuse(ErrDamaged, "The state file is empty",
			"%s has no content, which deployster never writes: something cut it off. %s", path, restore)
	}
	members, err := jsondoc.OwnObject(data)
	if err != nil {
		return Snapshot{}, refuse(ErrDamaged, "The state file is damaged", "%s cannot be read: %s. %s", path, err, restore)
	}
	var format int
	if json.Unmarshal(members["format"], &format) != nil || members["lineage"] == nil || format < 1 {
		return Snapshot{}, refuse(ErrForeign, "Not a state file of deployster",
			"%s has no format and lineage of deployster's. It was not changed. Name another file with -state; "+
				"where this one has taken the place of yours, `deployster state restore` puts back one of the last copies.", path)
	}
	if format > Format {
		return Snapshot{}, refuse(ErrNewer, "The state file is of a newer deployster",
			"%s has the format %d, and this deployster knows %d. It was not changed. Use the version of deployster that wrote it, or a later one.", path, format, Format)
	}
	var s Snapshot
	if format < Format {
		if data, err = upgraded(data, format, Format, upgrades()); err == nil {
			members, err = jsondoc.OwnObject(data)
		}
	}
	if err == nil {
		s, err = decode(members)
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

// appender is the log that a journal is written to.
type appender interface {
	Reserve(n int64) error
	Release()
	Write(b []byte) (end int64, err error)
	Sync(end int64) error
	Durable() int64
	Close() error
}

// files are the writes of a Store. It is a seam for faults in tests.
type files struct {
	write     func(path string, data []byte) error
	keep      func(dir string, serial uint64, data []byte) error
	createLog func(path string) (appender, error)
	remove    func(path string) error
}

func disk() files {
	return files{
		write:     func(path string, data []byte) error { return durable.WriteFile(path, data, 0o600) },
		keep:      keep,
		createLog: func(path string) (appender, error) { return durable.CreateLog(path, 0o600) },
		remove:    durable.Remove,
	}
}

// save replaces the state file, and keeps a copy. An error that wraps
// ErrNoCopy comes after the state file was written.
func (f files) save(p paths, s Snapshot) error {
	data, err := p.encode(s)
	if err == nil {
		err = f.write(p.state, data)
	}
	if err != nil {
		return refuse(err, "Cannot write the state file", "%s: %s. See to the disk and to the rights of its directory. "+
			"What an apply has recorded is in the journal beside it, and the next command puts that into the state file.", p.state, err)
	}
	if err := f.keep(p.copies, s.Serial, data); err != nil {
		return refuse(fmt.Errorf("%w: %w", ErrNoCopy, err), "Cannot keep a copy of the state",
			"%s: %s. The state file itself is written and whole. See to the disk and to the rights of that directory.", p.copies, err)
	}
	return nil
}
