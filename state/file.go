package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"deployster/internal/base/jsondoc"
)

// restore tells the user what to do about an invalid state file.
const restore = "It was not changed. `deployster state restore` restores one of the last copies, which are kept next to it. If none " +
	"fits, move this one away: existing resources are found again, and only removals are forgotten."

// Parse reads the bytes of a state file; error messages name it by path. Parse returns an error
// for anything but a complete state file of this format, and never takes it for an empty one.
func Parse(path string, data []byte) (Snapshot, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Snapshot{}, refuse(ErrDamaged, "The state file is empty",
			"%s has no content, which deployster never writes: it was truncated. %s", path, restore)
	}
	members, err := jsondoc.OwnObject(data)
	if err != nil {
		return Snapshot{}, refuse(ErrDamaged, "The state file is damaged", "%s cannot be read: %s. %s", path, err, restore)
	}
	if err := movedAway(path, members); err != nil {
		return Snapshot{}, err
	}
	var format int
	if json.Unmarshal(members["format"], &format) != nil || members["lineage"] == nil || format < 1 {
		return Snapshot{}, refuse(ErrForeign, "Not a state file of deployster",
			"%s has no format and lineage of deployster's. It was not changed. Name another file with -state; if this one has replaced "+
				"yours, `deployster state restore` restores one of the last copies.", path)
	}
	if format > Format {
		return Snapshot{}, refuse(ErrNewer, "The state file is of a newer deployster",
			"%s has the format %d, and this deployster knows %d. It was not changed. Use the version of deployster that wrote it, or a later one.",
			path, format, Format)
	}
	var s Snapshot
	if format < Format {
		if data, err = jsondoc.Upgraded(data, format, Format, upgrades()); err == nil {
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

// canonical returns a copy with every document in canonical form.
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
