package watchclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

const (
	maxEvent  = 16 << 10 // bytes of an event
	maxReply  = 1 << 20  // bytes of a worker's line: a piece of output, or an event with escaped quotes
	maxDetail = 1 << 10  // bytes of a detail; the rest is cut off
)

var errLong = errors.New("it printed a line that is too long")

func tooLong(most int) error { return fmt.Errorf("%w: one has at most %d bytes", errLong, most) }

// readEvent parses one line of a watch process.
func readEvent(line []byte) (e protocol.WatchEvent, err error) {
	if len(line) > maxEvent {
		return e, tooLong(maxEvent)
	}
	members, err := jsondoc.Object(line)
	if err != nil {
		return e, err
	}
	for key, want := range map[string]string{"detail": "a string", "busy": "a boolean"} {
		if raw, there := members[key]; there {
			if is := jsondoc.KindOf(raw); is != want {
				return e, fmt.Errorf("%q is %s, and must be %s", key, is, want)
			}
			delete(members, key)
		}
	}
	for key := range members {
		return e, fmt.Errorf("the key %q is not known here; known are busy, detail", key)
	}
	return e, json.Unmarshal(line, &e)
}

// eventReader reads the events of one resource. It is the listener of a process of its own.
type eventReader struct {
	c    *Client
	rest []byte // an incomplete line

	mu     sync.Mutex
	report func(Event)
	live   bool // its first line has arrived
}

// line processes one complete line.
func (w *eventReader) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	said, err := readEvent(line)
	if err != nil {
		return newBadLine(line, err)
	}
	e := w.c.event(Event{Busy: said.Busy, Detail: said.Detail})
	w.mu.Lock()
	defer w.mu.Unlock()
	e.First, w.live = !w.live, true
	w.report(e)
	return nil
}

// skipped implements listener: an event above the rate limit has no other use.
func (w *eventReader) skipped([]byte) error { return nil }

// piece processes a piece of output, which may be several lines, or less than one.
func (w *eventReader) piece(text string) error {
	w.rest = append(w.rest, text...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			if len(w.rest) > maxEvent {
				return newBadLine(w.rest, tooLong(maxEvent))
			}
			w.rest = bytes.Clone(w.rest)
			return nil
		}
		if err := w.line(line); err != nil {
			return err
		}
		w.rest = rest
	}
}

// changed reports an event for lines that were skipped. It reports nothing before the
// first line.
func (w *eventReader) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live {
		w.report(Event{})
	}
}

// cutText cuts a text to at most n bytes, between two characters.
func cutText(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
