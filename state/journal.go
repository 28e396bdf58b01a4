package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/state/actions"
	"deployster/state/capacity"
	"deployster/state/lines"
	"deployster/state/moves"
	"deployster/state/place"
)

// Journal records the facts of one run. Each method returns when its fact is on the disk;
// callers that wait at the same time share an fsync. After a failure to write, every
// method fails, and nothing new may be started; Finish still tries to save what happened.
// It is safe for concurrent use.
type Journal struct {
	store  *Store
	log    place.Appender
	stream *encryption.Stream // nil = in clear text

	mu       sync.Mutex
	run      *replayRun
	line     bytes.Buffer // of the record that is being written
	seq      uint64
	prev     string
	ends     []int64 // offset at which each record ends, to know which are durable
	safe     uint64  // number of records known to be durable
	finished bool

	capacity *capacity.Reservations
}

// Begin starts the journal of a run that carries out a plan. The lineage is that of the
// plan; if there is no state file yet, the state begins with this lineage.
func (s *Store) Begin(plan, lineage string) (*Journal, error) {
	if s.journal != nil {
		return nil, refuse(ErrBroken, "A run is recorded already", "The journal of this state was started twice in one process, which "+
			"is a fault in deployster.")
	}
	if s.snapshot.Lineage != "" && s.snapshot.Lineage != lineage {
		return nil, refuse(ErrForeign, "plan is stale: it belongs to another state",
			"The plan was made for the lineage %s, and %s has the lineage %s. Plan again.", lineage, s.at.State, s.snapshot.Lineage)
	}
	if s.snapshot.Lineage == "" {
		if lineage == "" {
			lineage = NewID()
		}
		// The state file must exist before its journal: a journal without a state file
		// means that the state was lost.
		first := Snapshot{Format: Format, Lineage: lineage}.Clone()
		if err := s.at.save(first); err != nil {
			return nil, err
		}
		s.snapshot = first
	}
	stream, err := s.at.keys.NewStream(encryption.Journal)
	if err != nil {
		return nil, err
	}
	b := begin{Format: Format, Lineage: s.snapshot.Lineage, Serial: s.snapshot.Serial, Plan: plan, Run: NewID(),
		By: actions.Myself(s.command), Exports: s.exports, Read: s.reads}
	b.By.Machine, b.By.Author = cmp.Or(s.at.Machine, s.machine), s.author
	log, err := s.at.CreateJournal(b.Lineage, b.Run)
	if err != nil {
		return nil, refuse(err, "Cannot write the journal", "%s: %s. Nothing was started.", s.at.Journal, err)
	}
	j := &Journal{store: s, log: log, stream: stream, run: newReplay(s.snapshot, b, now())}
	j.capacity = capacity.New(&j.mu, log)
	if err := j.append(record{Kind: kindBegin, Begin: &b}); err != nil {
		return nil, errors.Join(err, log.Close(), s.at.RemoveJournal())
	}
	s.journal = j
	return j, nil
}

// now is the current time, for people to read; nothing is ordered by it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Start is an action that is about to be run.
type Start struct {
	Address, Action, Key string

	// Incomplete is the entry that is needed to destroy the resource, without a state. It is recorded with the first action if
	// there is no entry, because from then on the object may exist, however the action ends. nil = there is an entry.
	Incomplete *Entry
	// Another reports that the entry at the address is of another object, which is forgotten: Incomplete takes its place.
	Another bool

	Remembers   bool     // its type has a memory, which the action must report when it ends
	Returns     int64    // the most bytes that it may return to be recorded; see AwaitSpace
	Subscribers []string // resources without a record of what they have seen of this one: they have seen everything until now

	// Memory is what its type declares about the object that the action acts on; nil = the recorded memory stays. Without it an
	// adopted object could not be found again if the action is interrupted.
	Memory json.RawMessage
}

// ActionStarted records that an action is about to be run. It must return nil before the
// container is created. By then the disk space for its outcome is reserved, by AwaitSpace or else here.
func (j *Journal) ActionStarted(s Start) error {
	j.mu.Lock()
	recorded, known := j.run.snapshot.Resources[s.Address]
	j.mu.Unlock()
	if err := stays(s.Address, recorded); err != nil {
		return err
	}
	if s.Another {
		recorded, known = Entry{}, false
	}
	memory, err := canonicalMemory(s.Address, s.Memory)
	if err != nil {
		return err
	}
	if bytes.Equal(memory, recorded.Memory) {
		memory = nil
	}
	var incomplete *Entry
	if !known && s.Incomplete != nil {
		e, err := s.Incomplete.Begun()
		if err != nil {
			return refuse(err, "Cannot record a resource", "The config of %s is not valid JSON: %s.", s.Address, err)
		}
		incomplete = &e
	}
	j.mu.Lock()
	err = j.capacity.Take(s.Address, s.Action, capacity.Size(s.Returns, j.stream != nil))
	j.mu.Unlock()
	if err != nil {
		return j.broken(err)
	}
	return j.append(record{Kind: kindStarted, Address: s.Address, Action: s.Action, Key: s.Key, Entry: incomplete, Remembers: s.Remembers,
		Subscribers: s.Subscribers, Memory: memory})
}

// End is how an action ended.
type End struct {
	Exit     int
	NotBegun bool            // its program was never started, so there is no exit code
	Reason   string          // empty if it succeeded
	Memory   json.RawMessage // the memory that it reported, null = none; nil if it reported nothing
}

// ActionEnded records how an action ended.
func (j *Journal) ActionEnded(addr, action string, e End) error {
	if len(e.Reason) > capacity.MaxReason {
		e.Reason = strings.ToValidUTF8(e.Reason[:capacity.MaxReason], "") + "..."
	}
	memory, err := canonicalMemory(addr, e.Memory)
	if err != nil {
		return err
	}
	exit := &e.Exit
	if e.NotBegun {
		exit = nil
	}
	defer j.GiveUp(addr, action)
	return j.append(record{Kind: kindEnded, Address: addr, Action: action, Exit: exit, Reason: diag.Visible(e.Reason), Memory: memory})
}

// canonicalMemory returns a memory in the form in which it is recorded; nil = none.
func canonicalMemory(addr string, memory json.RawMessage) (json.RawMessage, error) {
	if memory == nil {
		return nil, nil
	}
	canonical, err := jsondoc.Canonical(memory)
	if err != nil {
		return nil, refuse(err, "Cannot record a resource", "The memory of %s is not valid JSON: %s.", addr, err)
	}
	return canonical, nil
}

// Valid records the entry of a resource that its image has called VALID.
func (j *Journal) Valid(addr string, e Entry) error {
	e, err := e.Canonical()
	if err != nil {
		return refuse(err, "Cannot record a resource", "The config or the state of %s is not valid JSON: %s.", addr, err)
	}
	if e.ValidAt.IsZero() {
		e.ValidAt = now()
	}
	return j.append(record{Kind: kindValid, Address: addr, Entry: &e})
}

// Removed records that a resource no longer exists, or that it is to be forgotten.
func (j *Journal) Removed(addr string) error {
	if err := stays(addr, j.entry(addr)); err != nil {
		return err
	}
	return j.append(record{Kind: kindRemoved, Address: addr})
}

// Moved records that resources have new addresses from now on. It is a single fact, so
// that after a crash either all of them are moved or none. See Snapshot.Moved.
func (j *Journal) Moved(moves []moves.Move) error {
	if _, err := j.Snapshot().Moved(moves); err != nil {
		return refuse(err, "Cannot move a resource", "%s. Nothing was moved.", err)
	}
	return j.append(record{Kind: kindMoved, Moves: slices.Clone(moves)})
}

// Outputs records the values of all outputs. It forgets all others.
func (j *Journal) Outputs(values map[string]Output) error {
	values = maps.Clone(values)
	for name, o := range values {
		c, err := o.Canonical()
		if err != nil {
			return refuse(err, "Cannot record an output", "The value of output %s is not valid JSON: %s.", name, err)
		}
		values[name] = c
	}
	return j.append(record{Kind: kindOutputs, Outputs: values})
}

// Round records that the run continues with the plan of a later round.
func (j *Journal) Round(plan string) error { return j.append(record{Kind: kindRound, Round: plan}) }

// Snapshot returns the state with all facts so far.
func (j *Journal) Snapshot() Snapshot {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run.snapshot.Clone()
}

// Finish ends the run: it writes its facts to the state file, increments the serial, and
// removes the journal. It also works, and saves what happened, if the journal can no
// longer be written.
func (j *Journal) Finish(status Status) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.finished {
		return refuse(ErrBroken, "The run is over", "Its journal was finished already, which is a fault in deployster.")
	}
	j.finished = true
	next := j.run.result(status)
	j.log.Release() // the space reserved for outcomes is needed for the state file now
	noCopy := j.store.at.save(next)
	if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {
		return noCopy
	}
	j.store.snapshot, j.store.journal = next, nil
	if err := errors.Join(j.log.Close(), j.store.at.RemoveJournal()); err != nil {
		return refuse(err, "Cannot remove the journal", "%s: %s. The state is complete; the next command removes it.", j.store.at.Journal,
			err)
	}
	return noCopy
}

// fresher is a log that another process may take over.
type fresher interface {
	Fresh(within time.Duration) error
}

// freshness is how long after its record was sent an action may start without another
// check that this process still holds the state: the machine may have been suspended.
const freshness = 30 * time.Second

// append writes a fact in its order and waits until it is on the disk.
func (j *Journal) append(r record) error {
	end, err := j.write(r)
	if err == nil {
		err = j.log.Sync(end)
	}
	if f, shared := j.log.(fresher); shared && err == nil && r.Kind == kindStarted {
		err = f.Fresh(freshness)
	}
	if err == nil {
		return nil
	}
	if r.Kind == kindStarted {
		// The caller does not start the action.
		j.mu.Lock()
		j.run.rollbackStart(r)
		j.capacity.GiveBack(r.Address, r.Action)
		j.mu.Unlock()
	}
	return j.broken(err)
}

func (j *Journal) write(r record) (end int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.finished {
		return 0, fmt.Errorf("the run is over: %w", os.ErrClosed)
	}
	r.Seq, r.Prev, r.Durable, r.Time = j.seq+1, j.prev, j.durable(), now()
	line, err := j.encode(r)
	if err != nil {
		return 0, err
	}
	if !r.hasReservation() {
		err = j.capacity.Spare(len(line))
	}
	if err == nil {
		end, err = j.log.Write(line)
	}
	// The fact happened: Finish may still save it, even if it cannot be written to the
	// journal now.
	j.run.apply(r)
	if err != nil {
		return 0, err
	}
	j.seq, j.prev = r.Seq, lines.Hash(line[:len(line)-1])
	j.ends = append(j.ends, end)
	return end, nil
}

// encode returns the line of a record unchanged written to the journal. It is valid until
// the next call.
func (j *Journal) encode(r record) ([]byte, error) {
	if j.stream != nil {
		return encryptRecord(r, j.stream)
	}
	err := lines.Encode(&j.line, r)
	return j.line.Bytes(), err
}

// durable returns how many records the disk has confirmed.
func (j *Journal) durable() uint64 {
	confirmed := j.log.Durable()
	for j.safe < uint64(len(j.ends)) && j.ends[j.safe] <= confirmed {
		j.safe++
	}
	return j.safe
}

// broken reports why nothing more can be recorded. If err is a diagnostic, its place has worded it better, and broken keeps it.
func (j *Journal) broken(err error) error {
	if worded, ok := errors.AsType[*diag.Diagnostic](err); ok {
		return &diag.Caused{Diagnostic: worded, Cause: fmt.Errorf("%w: %w", ErrBroken, err)}
	}
	return refuse(fmt.Errorf("%w: %w", ErrBroken, err), "Cannot write the journal",
		"%s: %s. Nothing new is started, because what is done could not be recorded. "+
			"Check the disk (full, read-only or failing?), then plan again.", j.store.at.Journal, err)
}
