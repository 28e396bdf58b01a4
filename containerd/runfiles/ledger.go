package runfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"deployster/containerd/layout"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/runner"
)

// askedFile is a file next to the standard files of a worker, or of a shared container: the requested
// actions that are not settled.
const askedFile = "asked"

// LedgerEntry is a line of the ledger.
type LedgerEntry struct {
	Request int64  `json:"request"`
	Action  string `json:"action,omitempty"` // layout.ActionName of its ID; "" = it is settled
}

// Ledger is that file, as its only writer sees it. Like all files of a run it is not
// synced: its directory does not survive a restart of the machine.
type Ledger struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	open map[int64]LedgerEntry
}

// maxLedger is the size in bytes at which the file is rewritten.
const maxLedger = 1 << 20

func newLedger(dir string) (*Ledger, error) {
	l := &Ledger{path: filepath.Join(dir, askedFile), open: map[int64]LedgerEntry{}}
	return l, l.rewrite()
}

// rewrite replaces the file with one that has only the open entries.
func (l *Ledger) rewrite() error {
	var content []byte
	for _, a := range l.open {
		content = append(content, a.line()...)
	}
	if err := durable.WriteUnsynced(l.path, content, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // it was replaced
	}
	l.file, l.size = f, int64(len(content))
	return nil
}

func (a LedgerEntry) line() []byte {
	b, _ := json.Marshal(a) // no field can fail
	return append(b, '\n')
}

func (l *Ledger) add(a LedgerEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.file.Write(a.line())
	if l.size += int64(n); err != nil {
		return err
	}
	if a.Action != "" {
		l.open[a.Request] = a
	} else {
		delete(l.open, a.Request)
	}
	if l.size > maxLedger && len(l.open) < 1000 {
		return l.rewrite()
	}
	return nil
}

// Ask records that an action is about to be requested. Before, it removes the outcome of an earlier
// attempt, which is not that of this one.
func (l *Ledger) Ask(outcomes Outcomes, request int64, s runner.Spec) error {
	if err := outcomes.Remove(layout.ActionName(s.ID)); err != nil {
		return err
	}
	return l.add(LedgerEntry{Request: request, Action: layout.ActionName(s.ID)})
}

// Settle records that the end of an action is recorded elsewhere, or that it was not requested after all.
func (l *Ledger) Settle(request int64) error { return l.add(LedgerEntry{Request: request}) }

// Close closes the file, but keeps it.
func (l *Ledger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close() // every line was written already
}

// IsSettled reports whether a ledger has no open action.
func IsSettled(dir string) bool {
	open, err := ReadLedger(dir)
	return err == nil && len(open) == 0
}

// OpenLedger creates the ledger of a run, or opens one that is settled.
func OpenLedger(dir string) (*Ledger, error) {
	if !IsSettled(dir) {
		return nil, errors.New("it has actions that are not settled")
	}
	return newLedger(dir)
}

// ReadLedger returns the actions of a ledger that are not settled, by request. A run that
// is not a worker has no ledger, and no actions.
func ReadLedger(dir string) (map[int64]LedgerEntry, error) {
	b, err := os.ReadFile(filepath.Join(dir, askedFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	open := map[int64]LedgerEntry{}
	for line := range bytes.Lines(b) {
		var a LedgerEntry
		if json.Unmarshal(line, &a) != nil {
			continue // its writer was killed while writing, and has not sent the request
		}
		if a.Action != "" {
			open[a.Request] = a
		} else {
			delete(open, a.Request)
		}
	}
	return open, nil
}

// SettleAbandoned settles actions in the ledger of a killed writer: how they ended is
// stored elsewhere.
func SettleAbandoned(dir string, requests []int64) error {
	if len(requests) == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, askedFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	content := []byte("\n") // its writer may have been killed within a line
	for _, r := range requests {
		content = append(content, LedgerEntry{Request: r}.line()...)
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
