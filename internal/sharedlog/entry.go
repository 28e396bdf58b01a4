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

// Format is the version of entries that this package writes.
const Format = 1

// Kind is what an entry says.
type Kind string

// The kinds of entries.
const (
	KindOpen    Kind = "open"    // from now on the log is this claim's
	KindJournal Kind = "journal" // the next records of a run
	KindAlive   Kind = "alive"   // its holder is still there
	KindState   Kind = "state"   // the state is this now
	KindClose   Kind = "close"   // it is nobody's now
	KindMoved   Kind = "moved"   // it ends here
)

// Entry is one entry of a log.
type Entry struct {
	Format int    `json:"format"`
	N      uint64 `json:"n"`    // its number, from 1 on
	ID     string `json:"id"`   // random: tells who has created an object whose answer was lost
	Prev   string `json:"prev"` // hash of the entry before; "" of the first
	// StateAt is the number of the last entry of the kind state, this one included;
	// 0 = there is none.
	StateAt uint64    `json:"state_at"`
	Kind    Kind      `json:"kind"`
	Claim   string    `json:"claim"`
	By      By        `json:"by"`
	Since   time.Time `json:"since"` // when the claim began, by the clock of its holder
	Time    time.Time `json:"time"`  // of writing, by the clock of its holder

	Takes  string  `json:"takes,omitempty"`  // open: the claim that it ends, if one was open
	Run    string  `json:"run,omitempty"`    // journal: whose records they are
	States []State `json:"states,omitempty"` // state: the present one, then earlier ones, newest first
	To     string  `json:"to,omitempty"`     // moved

	Body []byte `json:"-"` // what follows the line: the records of a journal
}

// State is an object that holds a state.
type State struct {
	Serial    uint64    `json:"serial"`
	Object    string    `json:"object"` // its key, without the number of the part
	SHA256    string    `json:"sha256"`
	Size      int       `json:"size"`
	At        time.Time `json:"at"`
	Encrypted bool      `json:"encrypted,omitempty"`
}

// By is who has written an entry.
type By struct {
	Command string `json:"command,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Host    string `json:"host,omitempty"`
	Machine string `json:"machine,omitempty"` // of the directory in which it runs containers
}

// String describes a process for a message.
func (b By) String() string {
	if b.Command == "" {
		return "another process"
	}
	return fmt.Sprintf("%s (process %d on %s)", b.Command, b.PID, b.Host)
}

// NewID makes a random id.
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

// number is that of a key below a prefix; 0 = it is none of ours.
func number(key, prefix string) uint64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "-")
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil && len(digits) == 16 {
		return n
	}
	return 0
}

// encode gives the object of an entry: one line, and the body.
func (e Entry) encode() ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), e.Body...), nil
}

// decode reads the object with a number.
func decode(n uint64, data []byte) (Entry, error) {
	line, body, whole := bytes.Cut(data, []byte("\n"))
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil || !whole || e.Format < 1 || e.N != n || e.ID == "" {
		return Entry{}, fmt.Errorf("%w: %s is no entry of a log", ErrDamaged, logKey(n))
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
