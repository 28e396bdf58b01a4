package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/state/actions"
	"deployster/state/lines"
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
	kindSaw       kind = "saw" // transfers

	kindOperations kind = "operations" // that are scheduled
	kindTurn       kind = "turn"       // of one of them
	kindFormer     kind = "former"     // what is kept of the plan
	kindRound      kind = "round"      // the run continues with another plan
)

// record is one fact, a line of the journal (see state/lines). Seq counts from 1, and Prev
// is the hash of the record before, so that a lost, repeated or swapped line is detected.
// Seq must stay the first key: lines.Confirm finds records by it.
type record struct {
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
	// Durable is the last record that the disk had confirmed when this one was written.
	// It distinguishes a torn tail, whose facts were never reported as stored, from damage to
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
	// Remembers reports that the type of a started action has a memory. Memory is, of a
	// started action, what the type reported about the object before, if it is not recorded
	// already; and, of an ended action, the memory that it reported, null for none.
	Remembers   bool              `json:"remembers,omitempty"`
	Subscribers []string          `json:"subscribers,omitempty"` // new ones: they have seen all actions on it until now
	Memory      json.RawMessage   `json:"memory,omitempty"`
	Outputs     map[string]Output `json:"outputs,omitempty"`
	Moves       []moves.Move      `json:"moves,omitempty"`

	Pins      map[string]Pin      `json:"pins,omitempty"`
	Artifacts map[string]Artifact `json:"artifacts,omitempty"`
	Put       *actions.Put        `json:"put,omitempty"`
	Addresses []string            `json:"addresses,omitempty"`

	Operations Operations `json:"operations,omitempty"`
	Former     []byte     `json:"former,omitempty"`
	Turn       *time.Time `json:"turn,omitempty"`  // of the operation Action
	Until      *time.Time `json:"until,omitempty"` // when it has ended at the latest
	Round      string     `json:"round,omitempty"` // the id of the plan of a later round

	// An encrypted record has only these, and the first three above, in clear text in the
	// journal: see encryptedRecord.
	Head      *encryption.Head `json:"head,omitempty"`
	Encrypted []byte           `json:"encrypted,omitempty"`
}

// start notes in a snapshot that the action of a record was started in a run.
func (r record) start(s *Snapshot, b begin) {
	s.Start(r.Address, b.Plan, b.By, actions.Attempt{Action: r.Action, Key: r.Key, Started: r.Time, Silent: r.Remembers})
}

// end notes in a snapshot how the action of a record ended; nil = it was not started at all.
func (r record) end(s *Snapshot, exit *int) { s.End(r.Address, r.Action, r.Key, exit, r.Memory != nil) }

// begin is the content of the first record: the state that the journal belongs to.
type begin struct {
	Format  int        `json:"format"`
	Lineage string     `json:"lineage"`
	Serial  uint64     `json:"serial"` // of the state file that the journal continues
	Plan    string     `json:"plan"`
	Run     string     `json:"run"`
	By      actions.By `json:"by,omitzero"`

	Exports *Exports        `json:"exports,omitempty"` // how the run publishes outputs; nil = as before
	Read    map[string]Read `json:"read,omitempty"`    // what it reads of other states
}

// errNotUnderstood is the error for a record that is intact, but has content that this
// version does not know.
var errNotUnderstood = errors.New("it is complete, and has keys that this version of deployster does not know")

// decodeLine reads a line without its newline; false means that it is damaged.
func decodeLine(line []byte) (record, bool) {
	body, intact := lines.Body(line)
	if !intact {
		return record{}, false
	}
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
	records = make([]record, 0, bytes.Count(data, []byte("\n")))
	prev, rest := "", data
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		r, ok := decodeLine(line)
		seq := uint64(len(records)) + 1
		if whole && !ok {
			if _, intact := lines.Body(line); intact {
				return nil, 0, fmt.Errorf("record %d: %w", seq, errNotUnderstood)
			}
		}
		if !whole || !ok || r.Seq != seq || r.Prev != prev {
			if lines.Confirm(rest, seq) {
				return nil, 0, fmt.Errorf("record %d is damaged, and later ones show that it was stored", seq)
			}
			return records, len(rest), nil
		}
		records, prev, rest = append(records, r), lines.Hash(line), after
	}
	return records, 0, nil
}

// until returns when the run of a turn has ended at the latest.
func (r record) until() time.Time {
	if r.Until == nil {
		return time.Time{}
	}
	return *r.Until
}
