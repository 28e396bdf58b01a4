package content

import "crypto/sha256"

// Kept is the state file that was read or written last, for a process that opens it again
// and again. It is compared with the file by a hash of the bytes.
type Kept struct {
	sum      [sha256.Size]byte
	snapshot Snapshot
}

// Parse reads the bytes of a state file, unless they are the bytes that it has already.
func (k *Kept) Parse(path string, data []byte) (Snapshot, error) {
	if k != nil && k.snapshot.Lineage != "" && sha256.Sum256(data) == k.sum {
		return k.snapshot.Clone(), nil
	}
	s, err := Parse(path, data)
	if err == nil {
		k.Written(s, data)
	}
	return s, err
}

// Written records the snapshot that belongs to the bytes of a state file.
func (k *Kept) Written(s Snapshot, data []byte) {
	if k != nil {
		k.sum, k.snapshot = sha256.Sum256(data), s.Clone()
	}
}
