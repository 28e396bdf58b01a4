package content

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deployster/internal/base/jsondoc"
)

// EntryHash is the fingerprint of an entry: equal for equal content, however it is
// written. It leaves out when the entry was found valid and acted upon, and its identity,
// kind, defaults, memory, what its type was given and which versions have passed it: finding the same again is not a change.
func EntryHash(e Entry) string {
	e, err := e.Canonical()
	if err != nil {
		// Invalid JSON has no canonical form; its bytes still distinguish the entry.
		return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", e.Type, e.Config, e.State)))
	}
	e.ValidAt, e.Identity, e.Kind, e.Defaults, e.Acted, e.Seen, e.Memory, e.Given = time.Time{}, nil, "", nil, 0, nil, nil, nil
	e.Passed = nil
	if e.LastSeen != nil {
		found := *e.LastSeen
		found.At = time.Time{}
		e.LastSeen = &found
	}
	b, err := jsondoc.Encode(&e)
	if err != nil {
		b = fmt.Appendf(nil, "%s\x00%s\x00%s", e.Type, e.Config, e.State)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Pin returns what a plan pins of the entry of a resource, "" if there is no entry.
func (s Snapshot) Pin(addr string) string {
	if entry, known := s.Resources[addr]; known {
		return entry.Pin()
	}
	return ""
}

// Pin returns the EntryHash of an entry, the run that last acted on it, and when it was VALID:
// an object that was created again since is another object, with another memory, however equal.
func (e Entry) Pin() string {
	return EntryHash(e) + " " + strconv.FormatUint(e.Acted, 10) + " " + e.ValidAt.UTC().Format(time.RFC3339Nano)
}

// Holds reports whether an entry has the pinned content, whichever run acted on it since.
func (e Entry) Holds(pin string) bool {
	hash, _, _ := strings.Cut(pin, " ")
	return EntryHash(e) == hash
}
