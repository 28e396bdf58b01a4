package state

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"deployster/internal/base/jsondoc"
)

// EntryHash is the fingerprint of an entry: equal for equal content, however
// it is written. When it was found valid and acted upon, and what its image says of its
// identity and remembers are left out: to find the same again is nothing new.
func EntryHash(e Entry) string {
	e, err := e.canonical()
	if err != nil {
		// What is no JSON has no canonical form; its bytes still tell it apart.
		return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", e.Type, e.Config, e.State)))
	}
	e.ValidAt, e.Identity, e.Kind, e.Defaults, e.Acted, e.Seen, e.Memory = time.Time{}, nil, "", nil, 0, nil, nil
	if e.LastSeen != nil {
		found := *e.LastSeen
		found.At = time.Time{}
		e.LastSeen = &found
	}
	b, err := jsondoc.Encode(&e)
	if err != nil {
		b = fmt.Appendf(nil, "%s\x00%s\x00%s", e.Type, e.Config, e.State)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(b))
}

// Pin is what a plan pins of what is recorded of a resource, "" for nothing.
func (s Snapshot) Pin(addr string) string {
	if entry, known := s.Resources[addr]; known {
		return entry.Pin()
	}
	return ""
}

// Pin is the EntryHash of an entry, and which run acted on it last and when it was VALID: one
// that was made anew since is another thing, with another memory, however equal.
func (e Entry) Pin() string {
	return fmt.Sprintf("%s %d %s", EntryHash(e), e.Acted, e.ValidAt.UTC().Format(time.RFC3339Nano))
}

// Holds reports whether an entry has the content that was pinned, whoever acted on it since.
func (e Entry) Holds(pin string) bool {
	hash, _, _ := strings.Cut(pin, " ")
	return EntryHash(e) == hash
}
