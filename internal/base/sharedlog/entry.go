package sharedlog

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format is the version of entries that this package writes. From version 2 on an entry has a checksum.
const Format = 2

// Kind is the kind of an entry.
type Kind string

// The kinds of entries.
const (
	KindOpen    Kind = "open"    // the claim now holds the log
	KindJournal Kind = "journal" // the next records of a run
	KindAlive   Kind = "alive"   // the holder still lives
	KindState   Kind = "state"   // the new state
	KindClose   Kind = "close"   // the holder releases the log
	KindMoved   Kind = "moved"   // the log ends here, and continues in another store
)

// Entry is one entry of a log.
type Entry struct {
	Format int    `json:"format"`
	Sum    string `json:"sum,omitempty"` // checksum of the object, with noSum in its place
	N      uint64 `json:"n"`             // its number, from 1 on
	ID     string `json:"id"`            // random; identifies the creator of an object when the store's answer was lost
	Prev   string `json:"prev"`          // hash of the entry before; "" of the first
	// StateAt is the number of the last entry of the kind state, this one included;
	// 0 = there is none.
	StateAt uint64    `json:"state_at"`
	Kind    Kind      `json:"kind"`
	Claim   string    `json:"claim"`
	By      By        `json:"by"`
	Since   time.Time `json:"since"` // when the claim began, by the clock of its holder
	Time    time.Time `json:"time"`  // when the entry was written, by the clock of its holder

	Takes  string  `json:"takes,omitempty"`  // open: the claim that it takes over, if the log was held
	Run    string  `json:"run,omitempty"`    // journal: the run that wrote the records
	States []State `json:"states,omitempty"` // state, and close (if the other is damaged): the present one, then earlier ones
	To     string  `json:"to,omitempty"`     // moved: where the log continues

	Body []byte `json:"-"` // the bytes after the JSON line: the records of a journal
}

// State names the object in the store that holds a state.
type State struct {
	Serial    uint64    `json:"serial"`
	Object    string    `json:"object"` // its key, without the number of the part
	SHA256    string    `json:"sha256"`
	Size      int       `json:"size"`
	At        time.Time `json:"at"`
	Encrypted bool      `json:"encrypted,omitempty"`
}

// By is the process that has written an entry.
type By struct {
	Command string `json:"command,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Host    string `json:"host,omitempty"`
	Machine string `json:"machine,omitempty"` // of the directory in which it runs containers
	User    string `json:"user,omitempty"`
	CI      string `json:"ci,omitempty"` // the URL of the run in a CI
}

// String describes a process for a message.
func (b By) String() string {
	if b.Command == "" {
		return "another process"
	}
	user := ""
	if b.User != "" {
		user = ", user " + b.User
	}
	return fmt.Sprintf("%s (process %d on %s%s)", b.Command, b.PID, b.Host, user)
}

// NewID returns a random id.
func NewID() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails: the program ends before it would
	return hex.EncodeToString(b)
}

const (
	logPrefix   = "log/"
	statePrefix = "state/"
)

func logKey(n uint64) string { return fmt.Sprintf("%s%016d", logPrefix, n) }

// number returns the number in a key with this prefix; 0 = not a key of this package.
func number(key, prefix string) uint64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "-")
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil && len(digits) == 16 {
		return n
	}
	return 0
}

// noSum stands for the checksum while that is computed.
var noSum = strings.Repeat("0", 32)

func sumField(sum string) []byte { return []byte(`"sum":"` + sum + `"`) }

// encode returns the content of the entry's object: one line of JSON, and the body.
func (e Entry) encode() ([]byte, error) {
	e.Sum = noSum
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	data := append(append(line, '\n'), e.Body...)
	return bytes.Replace(data, sumField(noSum), sumField(hash(data)), 1), nil
}

// intact reports whether the content of an object is what was written. Entries of the first format have no checksum.
func (e Entry) intact(data []byte) bool {
	if e.Sum == "" {
		return e.Format == 1
	}
	return e.Sum == hash(bytes.Replace(data, sumField(e.Sum), sumField(noSum), 1))
}

// decode parses the content of the object with number n.
func decode(n uint64, data []byte) (Entry, error) {
	line, body, whole := bytes.Cut(data, []byte("\n"))
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil || !whole || e.Format < 1 || e.N != n || e.ID == "" {
		return Entry{}, fmt.Errorf("%w: %s is not an entry of a log", ErrDamaged, logKey(n))
	}
	if !e.intact(data) {
		return Entry{}, fmt.Errorf("%w: %s is not what was written: its checksum is wrong", ErrDamaged, logKey(n))
	}
	if e.Format > Format {
		return Entry{}, fmt.Errorf("%w: %s has the format %d, and %d is known here", ErrNewer, logKey(n), e.Format, Format)
	}
	e.Body = body
	return e, nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
