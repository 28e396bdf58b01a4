package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/state/actions"
	"deployster/state/moves"
)

// kind is the kind of fact that a journal's record has.
type kind string

const (
	kindBegin   kind = "begin"
	kindStarted kind = "action-started"
	kindEnded   kind = "action-ended"
	kindValid   kind = "valid"
	kindRemoved kind = "removed"
	kindOutputs kind = "outputs"
	kindMoved   kind = "moved"
	kindFailed  kind = "failed"

	kindPins      kind = "pins"
	kindArtifacts kind = "artifacts"
	kindPut       kind = "put"
)

// record is one fact. A journal is a file of lines, each the CRC-32C of the
// JSON in eight hex digits, a space, and the JSON. Seq counts from 1, and Prev
// is the hash of the record before, so that a lost, repeated or swapped line
// is detected. Seq must stay the first key: confirms finds records by it.
type record struct {
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
	// Durable is the last record that the disk had confirmed when this one was written.
	// It tells a torn tail, whose facts were never reported as stored, from damage to
	// facts that were.
	Durable uint64    `json:"durable"`
	Time    time.Time `json:"time"`
	Kind    kind      `json:"kind"`

	Begin   *begin `json:"begin,omitempty"`
	Address string `json:"address,omitempty"`
	Action  string `json:"action,omitempty"`
	Key     string `json:"idempotency_key,omitempty"`
	Exit    *int   `json:"exit,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Entry   *Entry `json:"entry,omitempty"`
	// Remembers says that the type of a started action has a memory. Memory is, of a
	// started action, what the type said of the thing before, if it is not recorded
	// already; and, of an ended action, the memory that it reported, null for none.
	Remembers   bool              `json:"remembers,omitempty"`
	Subscribers []string          `json:"subscribers,omitempty"` // new ones: they have seen all actions on it until now
	Memory      json.RawMessage   `json:"memory,omitempty"`
	Outputs     map[string]Output `json:"outputs,omitempty"`
	Moves       []moves.Move      `json:"moves,omitempty"`

	Pins      map[string]Pin      `json:"pins,omitempty"`
	Artifacts map[string]Artifact `json:"artifacts,omitempty"`
	Put       *actions.Put        `json:"put,omitempty"`

	// An encrypted record has only these, and the first three above, in clear text in the
	// journal: see encryptedRecord.
	Head      *encryption.Head `json:"head,omitempty"`
	Encrypted []byte           `json:"encrypted,omitempty"`
}

// begin is the content of the first record: the state that the journal belongs to.
type begin struct {
	Format  int        `json:"format"`
	Lineage string     `json:"lineage"`
	Serial  uint64     `json:"serial"` // of the state file that the journal continues
	Plan    string     `json:"plan"`
	Run     string     `json:"run"`
	By      actions.By `json:"by,omitzero"`
}

// castagnoli returns the CRC-32C of b.
func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func hashLine(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:16])
}

// sumSize is the length of what precedes the JSON of a record: its checksum and a space.
const sumSize = len("01234567 ")

// encodeRecord replaces the content of b with the line of a record, including its
// newline.
func encodeRecord(b *bytes.Buffer, r record) error {
	b.Reset()
	b.WriteString("01234567 ")
	body, err := jsondoc.Encode(r)
	if err != nil {
		return err
	}
	b.Write(body)
	b.WriteByte('\n')
	line := b.Bytes()
	copy(line, sumOf(line[sumSize:len(line)-1]))
	return nil
}

// frame returns the line of a record: its checksum, its JSON, a newline.
func frame(body []byte) []byte {
	return slices.Concat([]byte(sumOf(body)), []byte(" "), body, []byte("\n"))
}

// sumOf returns the checksum of the JSON of a record, in the form that precedes the JSON.
func sumOf(body []byte) string { return fmt.Sprintf("%08x", castagnoli(body)) }

// intact reports whether the checksum of a line matches its content.
func intact(line []byte) bool {
	sum, body, ok := bytes.Cut(line, []byte(" "))
	return ok && string(sum) == sumOf(body)
}

// errNotUnderstood is the error for a record that is intact, but has content that this
// version does not know.
var errNotUnderstood = errors.New("it is whole, and says what this version of deployster does not know")

// decodeLine reads a line without its newline; false means that it is damaged.
func decodeLine(line []byte) (record, bool) {
	if !intact(line) {
		return record{}, false
	}
	_, body, _ := bytes.Cut(line, []byte(" "))
	return decodeBody(body)
}

// decodeBody reads the JSON of a record. An unknown key makes it return false.
func decodeBody(body []byte) (record, bool) {
	var r record
	if jsondoc.CheckOwn(body) != nil || jsondoc.DecodeStrict(body, &r) != nil {
		return record{}, false
	}
	return r, true
}

// decodeJournal reads the records of a journal and returns how many bytes it dropped at
// the end, because a crash left them half written. An error means damage to facts that
// the disk had confirmed.
func decodeJournal(data []byte) (records []record, dropped int, err error) {
	prev, rest := "", data
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		r, ok := decodeLine(line)
		seq := uint64(len(records)) + 1
		if whole && !ok && intact(line) {
			return nil, 0, fmt.Errorf("record %d: %w", seq, errNotUnderstood)
		}
		if !whole || !ok || r.Seq != seq || r.Prev != prev {
			if confirms(rest, seq) {
				return nil, 0, fmt.Errorf("record %d is damaged, and later ones say that it was stored", seq)
			}
			return records, len(rest), nil
		}
		records, prev, rest = append(records, r), hashLine(line), after
	}
	return records, 0, nil
}

// confirms reports whether data has an intact record that was written after the disk had
// confirmed the record seq. The damage before a record may have destroyed the newline
// too, so confirms searches for the beginnings of records.
func confirms(data []byte, seq uint64) bool {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		for at := 0; at < len(line); at++ {
			next := bytes.Index(line[at:], []byte(`{"seq":`))
			if next < 0 {
				break
			}
			// A space followed by an object occurs nowhere inside a record.
			if at += next; at < sumSize || line[at-1] != ' ' {
				continue
			}
			if r, ok := decodeLine(line[at-sumSize:]); ok && r.Durable >= seq {
				return true
			}
		}
	}
	return false
}
