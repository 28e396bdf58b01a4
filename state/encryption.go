package state

import (
	"errors"
	"fmt"
	"os"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/state/content"
	"deployster/state/lines"
)

// An encrypted state file, and each of its copies, is encrypted as one file. An encrypted
// journal is still lines with checksums, so that a torn tail can be distinguished from damage
// without a key. Only the content of a record is encrypted, and is bound to the position
// of the record in the chain.

// encryptedRecord is the form of an encrypted record in a journal.
type encryptedRecord struct {
	Seq       uint64           `json:"seq"`
	Prev      string           `json:"prev"`
	Durable   uint64           `json:"durable"`
	Head      *encryption.Head `json:"head,omitempty"` // only in the first record
	Encrypted []byte           `json:"encrypted"`
}

// bond returns what an encrypted record is bound to, besides its sequence number.
func (r record) bond() string { return fmt.Sprintf("%s %d", r.Prev, r.Durable) }

// encryptRecord returns the line of an encrypted record, with its newline.
func encryptRecord(r record, s *encryption.Stream) ([]byte, error) {
	body, err := jsondoc.Encode(r)
	if err != nil {
		return nil, err
	}
	out := encryptedRecord{Seq: r.Seq, Prev: r.Prev, Durable: r.Durable, Encrypted: s.Encrypt(r.Seq, r.bond(), body)}
	if r.Seq == 1 {
		head := s.Head()
		out.Head = &head
	}
	if body, err = jsondoc.Encode(out); err != nil {
		return nil, err
	}
	return lines.Frame(body), nil
}

// openRecords decrypts the records of a journal if they are encrypted: either all of them
// are, or none.
func openRecords(at storage, records []record) ([]record, error) {
	if len(records) == 0 || records[0].Head == nil {
		for _, r := range records {
			if r.Encrypted != nil {
				return nil, damagedJournal(at, fmt.Errorf("record %d is encrypted, and the first is not", r.Seq))
			}
		}
		return records, nil
	}
	stream, err := at.keys.OpenStream(encryption.Journal, at.Journal, *records[0].Head)
	if errors.Is(err, encryption.ErrDamaged) {
		return nil, damagedJournal(at, errors.New("the key in its first record cannot be read"))
	}
	if err != nil {
		return nil, err
	}
	out := make([]record, len(records))
	for i, outer := range records {
		if out[i], err = openRecord(outer, stream); err != nil {
			return nil, damagedJournal(at, err)
		}
	}
	return out, nil
}

// openRecord decrypts one record.
func openRecord(outer record, stream *encryption.Stream) (record, error) {
	body, err := stream.Open(outer.Seq, outer.bond(), outer.Encrypted)
	if err != nil {
		return record{}, fmt.Errorf("record %d is not what was written", outer.Seq)
	}
	r, ok := decodeBody(body)
	if !ok || r.Seq != outer.Seq || r.Encrypted != nil {
		return record{}, fmt.Errorf("record %d: %w", outer.Seq, errNotUnderstood)
	}
	return r, nil
}

// damagedJournal returns the error for the user about a journal that cannot be read.
func damagedJournal(at storage, err error) error {
	if errors.Is(err, errNotUnderstood) {
		return refuse(ErrNewer, "The journal is of a newer deployster",
			"%s: %s. Nothing was changed. Use the version of deployster that wrote it, or a later one.", at.Journal, err)
	}
	return refuse(ErrDamaged, "The journal is damaged",
		"%s: %s. It and the state file were not changed. Keep a copy of both, and check the resources of the last apply; when the "+
			"journal is moved away, what it recorded is forgotten.", at.Journal, err)
}

// decrypt decrypts the bytes of a state file, or of a copy of one, if they are encrypted.
func (s storage) decrypt(name string, data []byte) ([]byte, error) {
	plain, err := s.keys.Open(encryption.State, name, data)
	if errors.Is(err, encryption.ErrDamaged) {
		return nil, diag.Because(fmt.Errorf("%w: %w", ErrDamaged, err), "The state file is damaged",
			"%s is encrypted, and is truncated or was changed. %s", name, content.Restore)
	}
	if errors.Is(err, encryption.ErrNewer) {
		err = errors.Join(err, ErrNewer)
	}
	return plain, err
}

// Reencrypt writes the state file and its copies again as the keyring declares: under its
// present key or in clear text. Nothing else about them changes. It returns the names of
// the files that it wrote, and of the copies that it left because they cannot be read,
// each with the reason.
func (s *Store) Reencrypt() (written []string, left map[string]error, err error) {
	if s.snapshot.Lineage == "" {
		return nil, nil, refuse(os.ErrNotExist, "No state file", "There is no state file at %s.", s.at.State)
	}
	list, err := s.at.copyList()
	if err != nil {
		return nil, nil, err
	}
	if err := s.at.save(s.snapshot); err != nil {
		return nil, nil, err
	}
	written, left = []string{s.at.State}, map[string]error{}
	for _, file := range list {
		name := s.at.CopyName(file.Serial)
		snapshot, _, err := s.at.copyOf(file.Serial)
		if err != nil {
			left[name] = err
			continue
		}
		data, err := s.at.encrypt(snapshot)
		if err == nil {
			err = s.at.WriteCopy(file.Serial, data)
		}
		if err != nil {
			return written, left, refuse(err, "Cannot write a copy of the state", "%s: %s. It was not changed.", name, err)
		}
		written = append(written, name)
	}
	return written, left, nil
}

// encrypt returns the bytes of a state file, encrypted if there are keys.
func (s storage) encrypt(next Snapshot) ([]byte, error) {
	data, err := next.Encode()
	if err != nil {
		return nil, err
	}
	s.kept.Written(next, data)
	return s.keys.Encrypt(encryption.State, data)
}
