package sharedlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"deployster/internal/base/durable"
)

// Kept is a directory of this machine with what it has read of a log: the present state, and the entries from that on.
// Only readers use it, and only what the store proves to be the same: a mark has the hash of the last entry, which has the
// hash of the one before, and the hash of the state. So it may be old, damaged or removed at any time. "" = nothing is kept.
type Kept string

// The files in the directory.
const (
	keptState   = "state"
	keptEntries = "entries"
)

// maxKeptEntries is the size in bytes of the entries that are kept. There are more during an apply alone.
const maxKeptEntries = 1 << 20

// state returns the bytes of a state, if they are kept.
func (k Kept) state(s State) ([]byte, bool) {
	if k == "" {
		return nil, false
	}
	data, err := os.ReadFile(filepath.Join(string(k), keptState))
	return data, err == nil && s.has(data)
}

// keepState keeps the bytes of a state in place of others.
func (k Kept) keepState(data []byte) { k.keep(keptState, data) }

// keep keeps a file. If that fails, it is read from the store again.
func (k Kept) keep(name string, data []byte) {
	if k != "" && os.MkdirAll(string(k), 0o700) == nil {
		_ = durable.WriteUnsynced(filepath.Join(string(k), name), data, 0o600)
	}
}

// entries returns the objects of a log from the entry with the state on, if they are kept and the last one is the one
// that the mark names.
func (k Kept) entries(t tops) (objects [][]byte) {
	if k == "" || t.mark.n != t.last {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(string(k), keptEntries))
	if err != nil || json.Unmarshal(data, &objects) != nil || len(objects) == 0 || hash(objects[len(objects)-1]) != t.mark.hash {
		return nil
	}
	return objects
}

// keepEntries keeps such objects in place of others.
func (k Kept) keepEntries(t tops, objects [][]byte) {
	if k == "" || t.mark.n != t.last {
		return // nothing would prove them
	}
	size := 0
	for _, o := range objects {
		size += len(o)
	}
	if data, err := json.Marshal(objects); err == nil && size <= maxKeptEntries {
		k.keep(keptEntries, data)
	}
}

// has reports whether these are the bytes of the state.
func (s State) has(data []byte) bool {
	sum := sha256.Sum256(data)
	return len(data) == s.Size && hex.EncodeToString(sum[:]) == s.SHA256
}
