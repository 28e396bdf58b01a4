package state

import (
	"bytes"
	"os"
	"sync"

	"deployster/internal/base/encryption"
)

// Ahead is a state file that is read before it is known to be needed, while
// something else is done. What it gives is used if the file has still the same
// content when it is opened, under its lock.
type Ahead struct {
	done     chan struct{}
	data     []byte
	snapshot Snapshot
	err      error
	once     sync.Once
}

// ReadAhead begins to read a state file. It changes nothing, and says nothing of
// what is wrong: who opens the state does.
func ReadAhead(path string) *Ahead {
	a := &Ahead{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			a.err = os.ErrNotExist
			return
		}
		if a.data, a.err = os.ReadFile(path); a.err == nil && !encryption.Is(a.data) {
			a.snapshot, a.err = parse(path, a.data)
		}
	}()
	return a
}

// of gives the state of a file with this content, once, if it was read.
func (a *Ahead) of(data []byte) (s Snapshot, ok bool) {
	if a == nil {
		return s, false
	}
	<-a.done
	a.once.Do(func() {
		ok = a.err == nil && !encryption.Is(data) && bytes.Equal(a.data, data)
		s, a.snapshot, a.data = a.snapshot, Snapshot{}, nil
	})
	return s, ok
}
