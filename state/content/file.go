package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/sharedlog"
)

// Restore shows the user what to do about an invalid state file.
const Restore = "It was not changed. `deployster state restore` restores one of the last copies, which are kept next to it. If none " +
	"fits, move this one away: existing resources are found again, and only removals are forgotten."

// Parse reads the bytes of a state file; error messages name it by path. Parse returns an error
// for anything but a complete state file of this format, and never takes it for an empty one.
func Parse(path string, data []byte) (Snapshot, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Snapshot{}, diag.Because(ErrDamaged, "The state file is empty",
			"%s has no content, which deployster never writes: it was truncated. %s", path, Restore)
	}
	members, resources, err := jsondoc.OwnObjects(data, "resources")
	if err != nil {
		return Snapshot{}, diag.Because(ErrDamaged, "The state file is damaged", "%s cannot be read: %s. %s", path, err, Restore)
	}
	if err := movedAway(path, members); err != nil {
		return Snapshot{}, err
	}
	var format int
	if json.Unmarshal(members["format"], &format) != nil || members["lineage"] == nil || format < 1 {
		return Snapshot{}, diag.Because(ErrForeign, "Not a state file of deployster",
			"%s has no format and lineage of deployster's. It was not changed. Name another file with -state; if this one has replaced "+
				"yours, `deployster state restore` restores one of the last copies.", path)
	}
	if format > Format {
		return Snapshot{}, diag.Because(ErrNewer, "The state file is of a newer deployster",
			"%s has the format %d, and this deployster knows %d. It was not changed. Use the version of deployster that wrote it, or a "+
				"later one.",
			path, format, Format)
	}
	var s Snapshot
	if format < Format {
		if data, err = jsondoc.Upgraded(data, format, Format, Upgrades()); err == nil {
			members, resources, err = jsondoc.OwnObjects(data, "resources")
		}
	}
	if err == nil {
		s, err = decode(members, resources)
	}
	if err == nil && (s.Lineage == "" || resources == nil && members["resources"] == nil) {
		err = errors.New("the lineage or the resources are missing")
	}
	if err != nil {
		return Snapshot{}, diag.Because(ErrDamaged, "The state file is damaged", "%s cannot be read: %s. %s", path, err, Restore)
	}
	return s, nil
}

// Canonical returns a copy with every document in canonical form.
func (s Snapshot) Canonical() (Snapshot, error) {
	s = s.Clone()
	for addr, e := range s.Resources {
		c, err := e.Canonical()
		if err != nil {
			return s, fmt.Errorf("resource %s: %w", addr, err)
		}
		s.Resources[addr] = c
	}
	for i, t := range s.Transferred {
		if t.Entry == nil {
			continue
		}
		c, err := t.Entry.Canonical()
		if err != nil {
			return s, fmt.Errorf("transferred resource %s: %w", t.Address, err)
		}
		s.Transferred[i].Entry = &c
	}
	for name, o := range s.Operations {
		input, err := canonicalOrNull(o.Input)
		if err != nil {
			return s, fmt.Errorf("operation %s: %w", name, err)
		}
		o.Input = input
		s.Operations[name] = o
	}
	for name, o := range s.Outputs {
		c, err := o.Canonical()
		if err != nil {
			return s, fmt.Errorf("output %s: %w", name, err)
		}
		s.Outputs[name] = c
	}
	return s, nil
}

// movedAway returns an error if the file reports that its state has moved.
func movedAway(path string, members map[string]json.RawMessage) error {
	var to string
	if members["moved_to"] == nil || json.Unmarshal(members["moved_to"], &to) != nil {
		return nil
	}
	return diag.Because(errors.Join(ErrForeign, &sharedlog.MovedError{To: to}), "The state has moved",
		"%s was moved to %s. Change the manifest or -state. Nothing was changed.", path, diag.Visible(to))
}
