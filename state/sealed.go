package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
)

// An encrypted state file, and each of its copies, is one sealed file. A
// journal stays lines with their checksums, so that a torn tail is told from
// damage without a key; only what a record says is sealed, and bound to its
// place in the chain.

// sealedRecord is how an encrypted record stands in a journal.
type sealedRecord struct {
	Seq     uint64           `json:"seq"`
	Prev    string           `json:"prev"`
	Durable uint64           `json:"durable"`
	Head    *encryption.Head `json:"head,omitempty"` // of the first one
	Sealed  []byte           `json:"sealed"`
}

// bond is what a sealed record is bound to, beside its number.
func (r record) bond() string { return fmt.Sprintf("%s %d", r.Prev, r.Durable) }

// sealRecord gives the line of an encrypted record, with its newline.
func sealRecord(r record, s *encryption.Stream) ([]byte, error) {
	body, err := jsondoc.Encode(r)
	if err != nil {
		return nil, err
	}
	out := sealedRecord{Seq: r.Seq, Prev: r.Prev, Durable: r.Durable, Sealed: s.Seal(r.Seq, r.bond(), body)}
	if r.Seq == 1 {
		head := s.Head()
		out.Head = &head
	}
	if body, err = jsondoc.Encode(out); err != nil {
		return nil, err
	}
	return frame(body), nil
}

// openRecords decrypts the records of a journal, if they are encrypted: all of
// them or none.
func openRecords(p paths, records []record) ([]record, error) {
	if len(records) == 0 || records[0].Head == nil {
		for _, r := range records {
			if r.Sealed != nil {
				return nil, damagedJournal(p, fmt.Errorf("record %d is encrypted, and the first is not", r.Seq))
			}
		}
		return records, nil
	}
	stream, err := p.keys.OpenStream(encryption.Journal, p.journal, *records[0].Head)
	if errors.Is(err, encryption.ErrDamaged) {
		return nil, damagedJournal(p, errors.New("the key in its first record cannot be read"))
	}
	if err != nil {
		return nil, err
	}
	out := make([]record, len(records))
	for i, outer := range records {
		body, err := stream.Open(outer.Seq, outer.bond(), outer.Sealed)
		if err != nil {
			return nil, damagedJournal(p, fmt.Errorf("record %d is not what was written", outer.Seq))
		}
		r, ok := decodeBody(body)
		if !ok || r.Seq != outer.Seq || r.Sealed != nil {
			return nil, damagedJournal(p, fmt.Errorf("record %d: %w", outer.Seq, errNotUnderstood))
		}
		out[i] = r
	}
	return out, nil
}

// damagedJournal words what is wrong with a journal.
func damagedJournal(p paths, err error) error {
	if errors.Is(err, errNotUnderstood) {
		return refuse(ErrNewer, "The journal is of a newer deployster",
			"%s: %s. Nothing was changed. Use the version of deployster that wrote it, or a later one.", p.journal, err)
	}
	return refuse(ErrDamaged, "The journal is damaged",
		"%s: %s. It and the state file were not changed. Keep a copy of both, and look at the resources of the last apply; "+
			"when the journal is moved away, what it recorded is forgotten.", p.journal, err)
}

// open decrypts the bytes of a state file, or of a copy of one.
func (p paths) open(path string, data []byte) ([]byte, error) {
	plain, err := p.keys.Open(encryption.State, path, data)
	if errors.Is(err, encryption.ErrDamaged) {
		return nil, refuse(fmt.Errorf("%w: %w", ErrDamaged, err), "The state file is damaged",
			"%s is encrypted, and is not what was written: cut off, or changed. %s", path, restore)
	}
	if errors.Is(err, encryption.ErrNewer) {
		err = errors.Join(err, ErrNewer)
	}
	return plain, err
}

// Clear lists the files beside an encrypted state that are not encrypted:
// copies, and what was moved aside. It is empty when the state itself is in
// clear text.
func Clear(path string) []string {
	p, err := resolve(path)
	if err != nil || !isSealed(p.state) {
		return nil
	}
	copies, _ := filepath.Glob(literal(p.copies) + "/*.json") // the patterns are right
	aside, _ := filepath.Glob(literal(p.state) + ".aside-*")
	var out []string
	for _, file := range append(copies, aside...) {
		if !isSealed(file) {
			out = append(out, file)
		}
	}
	return out
}

// literal writes a path so that a pattern matches nothing else.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// isSealed reports whether a file is there and is encrypted, by its first bytes.
func isSealed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, 64)
	n, _ := f.Read(head)
	return encryption.Is(head[:n])
}

// Reencrypt writes the state file and its copies anew as the keyring says, under
// its present key or in clear text; nothing else about them changes. It gives the files that it wrote, and those that it had to leave because they
// cannot be read, each with its reason.
func (s *Store) Reencrypt() (written []string, left map[string]error, err error) {
	if s.snapshot.Lineage == "" {
		return nil, nil, refuse(os.ErrNotExist, "No state file", "There is no state file at %s.", s.paths.state)
	}
	serials, err := kept(s.paths.copies)
	if err != nil {
		return nil, nil, refuse(err, "Cannot read the copies of the state", "%s: %s.", s.paths.copies, err)
	}
	if err := s.files.save(s.paths, s.snapshot); err != nil {
		return nil, nil, err
	}
	written, left = []string{s.paths.state}, map[string]error{}
	for _, serial := range serials {
		path := filepath.Join(s.paths.copies, copyName(serial))
		snapshot, err := readCopy(s.paths, serial)
		if err != nil {
			left[path] = err
			continue
		}
		data, err := s.paths.encode(snapshot)
		if err == nil {
			err = durable.WriteFile(path, data, 0o600)
		}
		if err != nil {
			return written, left, refuse(err, "Cannot write a copy of the state", "%s: %s. It is as it was.", path, err)
		}
		written = append(written, path)
	}
	return written, left, nil
}

// encode gives the bytes of a state file as it is to be written.
func (p paths) encode(s Snapshot) ([]byte, error) {
	data, err := s.Encode()
	if err != nil {
		return nil, err
	}
	return p.keys.Seal(encryption.State, data)
}
