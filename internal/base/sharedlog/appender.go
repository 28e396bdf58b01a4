package sharedlog

import (
	"errors"
	"sync"
	"time"
)

// maxBatch is the largest body of an entry in bytes, unless one record is larger.
const maxBatch = 512 << 10

// Appender appends the records of a run to a log. Records that arrive while an entry is
// being sent share the next entry. It is safe for concurrent use.
type Appender struct {
	claim   *Claim
	run     string
	pending *Pending // nil = there is none

	mu      sync.Mutex
	moved   sync.Cond
	records [][]byte // not sent yet
	written int64
	durable int64
	flying  bool
	err     error
}

// NewAppender returns an Appender for the records of a run. Each record goes to the
// pending file first, which may be nil.
func (c *Claim) NewAppender(run string, pending *Pending) *Appender {
	a := &Appender{claim: c, run: run, pending: pending}
	a.moved.L = &a.mu
	if pending != nil {
		c.whenUnanswered(func() { pending.setDurable(true) })
	}
	return a
}

// Reserve reserves room on the disk for the pending file.
func (a *Appender) Reserve(n int64) error {
	if a.pending == nil {
		return nil
	}
	return a.pending.reserve(n)
}

// Release does nothing: the room is freed when the pending file is removed.
func (a *Appender) Release() {}

// Write takes a record, which is certain to be in the log only after Sync. The record is
// in the pending file at once, and synced to the disk while the store does not answer.
func (a *Appender) Write(record []byte) (end int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending != nil {
		a.pending.write(record)
	}
	a.records = append(a.records, append([]byte(nil), record...))
	a.written += int64(len(record))
	return a.written, nil
}

// Sync waits until all records up to end are in the log. Once the log cannot be written,
// the records are on the disk of this machine, in the pending file, and each Sync fails.
func (a *Appender) Sync(end int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.durable < end {
		switch {
		case a.flying:
			a.moved.Wait()
		case a.err != nil:
			return a.err
		default:
			a.send()
		}
	}
	return nil
}

// send appends one entry with the records that wait. It releases the lock meanwhile.
func (a *Appender) send() {
	var body []byte
	for len(a.records) > 0 && (len(body) == 0 || len(body)+len(a.records[0]) <= maxBatch) {
		body = append(body, a.records[0]...)
		a.records = a.records[1:]
	}
	a.flying = true
	a.mu.Unlock()
	_, err := a.claim.Append(Entry{Kind: KindJournal, Run: a.run, Body: body})
	if a.pending != nil {
		a.pending.setDurable(err != nil)
	}
	a.mu.Lock()
	a.flying = false
	if a.err = err; err == nil {
		a.durable += int64(len(body))
	}
	a.moved.Broadcast()
}

// Durable returns how many bytes are in the log.
func (a *Appender) Durable() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.durable
}

// Fresh confirms that this process still holds the log, if the last entry is older than
// within: the machine may have been suspended since.
func (a *Appender) Fresh(within time.Duration) error {
	if a.claim.Age() <= within {
		return nil
	}
	_, err := a.claim.Append(Entry{Kind: KindAlive})
	return err
}

// Close closes the pending file, which keeps all records that were not sent.
func (a *Appender) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.flying {
		a.moved.Wait()
	}
	if a.pending == nil {
		return nil
	}
	return errors.Join(a.pending.close())
}
