package containerd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"deployster/internal/runner"
)

// askedFile lies beside the standard files of a program that is spoken to: what
// actions it was asked for that are not settled.
const askedFile = "asked"

// asked is a line of it.
type asked struct {
	Request int64  `json:"request"`
	Action  string `json:"action,omitempty"` // actionName of its ID; "" = it is settled
	Name    string `json:"name,omitempty"`   // for people
}

// ledger is that file, as its one writer sees it. Like all that is known of a
// run it is not synced: where it lies, nothing outlives the machine's next start.
type ledger struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	open map[int64]asked
}

// ledgerMost is how long the file may get before it is written anew, in bytes.
const ledgerMost = 1 << 20

func newLedger(dir string) (*ledger, error) {
	l := &ledger{path: filepath.Join(dir, askedFile), open: map[int64]asked{}}
	return l, l.anew()
}

// anew begins the file with what is open.
func (l *ledger) anew() error {
	f, err := os.OpenFile(l.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	var content []byte
	for _, a := range l.open {
		content = append(content, a.line()...)
	}
	if _, err = f.Write(content); err == nil {
		err = os.Rename(f.Name(), l.path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if l.file != nil {
		_ = l.file.Close() // it was replaced
	}
	l.file, l.size = f, int64(len(content))
	return nil
}

func (a asked) line() []byte {
	b, _ := json.Marshal(a) // it has nothing that could fail
	return append(b, '\n')
}

func (l *ledger) add(a asked) error {
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
	if l.size > ledgerMost && len(l.open) < 1000 {
		return l.anew()
	}
	return nil
}

func (l *ledger) asked(request int64, s runner.Spec) error {
	return l.add(asked{Request: request, Action: actionName(s.ID), Name: label(s.Name)})
}

func (l *ledger) settled(request int64) error { return l.add(asked{Request: request}) }

func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close() // every line was written
}

// readLedger gives the actions in such a file that are not settled, by request.
// There is none where nobody could ask for any.
func readLedger(dir string) (map[int64]asked, error) {
	b, err := os.ReadFile(filepath.Join(dir, askedFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	open := map[int64]asked{}
	for line := range bytes.Lines(b) {
		var a asked
		if json.Unmarshal(line, &a) != nil {
			continue // its writer died over it, and asked for nothing
		}
		if a.Action != "" {
			open[a.Request] = a
		} else {
			delete(open, a.Request)
		}
	}
	return open, nil
}

// settle says of actions that how they ended is kept elsewhere, for one whose
// writer is dead.
func settle(dir string, requests []int64) error {
	if len(requests) == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, askedFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	content := []byte("\n") // its writer may have died over a line
	for _, r := range requests {
		content = append(content, asked{Request: r}.line()...)
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
