package lines

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"slices"

	"deployster/internal/base/jsondoc"
)

// SumSize is the length of what precedes the JSON of a record: its checksum and a space.
const SumSize = len("01234567 ")

// Encode replaces the content of b with the line of a record, including its newline.
func Encode(b *bytes.Buffer, record any) error {
	b.Reset()
	b.WriteString("01234567 ")
	body, err := jsondoc.Encode(record)
	if err != nil {
		return err
	}
	b.Write(body)
	b.WriteByte('\n')
	line := b.Bytes()
	checksum := sum(line[SumSize : len(line)-1])
	copy(line, checksum[:])
	return nil
}

// Frame returns the line of a record: its checksum, its JSON, a newline.
func Frame(body []byte) []byte {
	checksum := sum(body)
	return slices.Concat(checksum[:], []byte(" "), body, []byte("\n"))
}

// Body returns the JSON of a line without its newline; false = its checksum does not match.
func Body(line []byte) ([]byte, bool) {
	want, body, ok := bytes.Cut(line, []byte(" "))
	checksum := sum(body)
	return body, ok && string(want) == string(checksum[:])
}

// Hash returns the hash of a line without its newline, which the next record names.
func Hash(line []byte) string {
	hash := sha256.Sum256(line)
	return hex.EncodeToString(hash[:16])
}

// sum returns the checksum of the JSON of a record, in the form that precedes the JSON.
func sum(body []byte) (text [SumSize - 1]byte) {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	hex.Encode(text[:], sum[:])
	return text
}

// Confirm reports whether data has an intact record that was written after the disk had
// confirmed the record seq: one whose key "durable" is at least seq. The damage before a
// record may have destroyed the newline too, so Confirm searches for the beginnings of
// records, which have the key "seq" first.
func Confirm(data []byte, seq uint64) bool {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		for at := 0; at < len(line); at++ {
			next := bytes.Index(line[at:], []byte(`{"seq":`))
			if next < 0 {
				break
			}
			// A space followed by an object occurs nowhere inside a record.
			if at += next; at < SumSize || line[at-1] != ' ' {
				continue
			}
			var r struct {
				Durable uint64 `json:"durable"`
			}
			if body, ok := Body(line[at-SumSize:]); ok && json.Unmarshal(body, &r) == nil && r.Durable >= seq {
				return true
			}
		}
	}
	return false
}
