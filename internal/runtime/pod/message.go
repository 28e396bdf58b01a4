package pod

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// mostMessage is how many bytes a termination message may have. Its reader takes 4,096, and would see no line
// missing of one that is larger.
const mostMessage = 3999

// message is the termination message of the container, which the Pod's status has after the container
// has ended: a line `ID begun` of each action right before it begins, and `ID exit CODE` once it has
// ended. Nothing else is in it. Lines of actions that are recorded elsewhere make room for others.
type message struct {
	mu    sync.Mutex
	file  *os.File
	size  int64
	lines []line
	old   map[string]bool // actions with lines in the file that are not in lines
}

type line struct{ id, text string }

// openMessage opens the file of the termination message, which the kubelet has made.
func openMessage(path string) (*message, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the termination message cannot be written: %w", err)
	}
	return &message{file: file, old: map[string]bool{}}, nil
}

// begun writes that an action begins now. An error means that it must not begin.
func (m *message) begun(id string) error { return m.add(line{id, id + " begun\n"}) }

// exited writes how an action has ended.
func (m *message) exited(id string, code int) error {
	return m.add(line{id, id + " exit " + strconv.Itoa(code) + "\n"})
}

// forget removes the lines of an action that has not begun after all, or whose end is recorded. They
// stay in the file until there is need for their room; those of one that was not begun go at once.
func (m *message) forget(id string, now bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.lines[:0]
	for _, l := range m.lines {
		if l.id != id {
			kept = append(kept, l)
		}
	}
	m.lines, m.old[id] = kept, true
	if !now {
		return nil
	}
	return m.rewrite()
}

// end leaves the lines of actions alone whose end is recorded nowhere else.
func (m *message) end() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rewrite()
}

func (m *message) add(l line) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, l)
	if m.size+int64(len(l.text)) > mostMessage || m.old[l.id] {
		return m.rewrite()
	}
	_, err := m.file.WriteAt([]byte(l.text), m.size)
	m.size += int64(len(l.text))
	return err
}

// rewrite replaces the content by the lines, in one write: the container may be killed at any time.
func (m *message) rewrite() error {
	var content bytes.Buffer
	for _, l := range m.lines {
		content.WriteString(l.text)
	}
	if content.Len() > mostMessage {
		return fmt.Errorf("%d bytes of actions do not fit into the termination message", content.Len())
	}
	size := int64(content.Len())
	for int64(content.Len()) < m.size {
		content.WriteByte('\n')
	}
	if _, err := m.file.WriteAt(content.Bytes(), 0); err != nil {
		return err
	}
	m.size, m.old = size, map[string]bool{}
	return m.file.Truncate(size)
}
