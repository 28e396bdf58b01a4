package events

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Stream sends events to its readers, and never waits for one. It is safe for concurrent
// use.
type Stream struct {
	hide Hide
	now  func() time.Time

	mu     sync.Mutex // keeps the order of the events the same for all readers
	buffer bytes.Buffer
	sinks  []*sink
	closed bool
}

// Hide returns a function that hides the secrets known now; nil = there are none.
type Hide func() func(text string) string

// NewStream returns a stream without readers. A nil hide means that there are never any
// secrets.
func NewStream(hide Hide, now func() time.Time) *Stream {
	if hide == nil {
		hide = func() func(string) string { return nil }
	}
	return &Stream{hide: hide, now: now}
}

// Opener opens the writer for a reader, and may wait for the reader until stop is closed.
// A nil writer means that there will be no reader.
type Opener func(stop <-chan struct{}) (io.WriteCloser, error)

// Limits bound the events that are kept for one reader.
type Limits struct {
	Waiting int   // bytes that may wait for a slow reader before minor events are left out
	Most    int   // bytes that may wait at all; beyond it only Version, Report and End are added
	Logs    int64 // bytes of log lines that the reader gets in all; 0 = any number
}

// DefaultLimits returns the limits of readers outside deployster.
func DefaultLimits() Limits { return Limits{Waiting: 8 << 20, Most: 64 << 20} }

// To adds a reader, which gets every event that is sent from now on.
func (s *Stream) To(name string, open Opener, l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sinks = append(s.sinks, newSink(name, open, l))
}

// Send sends an event to all readers.
func (s *Stream) Send(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sinks) == 0 || s.closed {
		return
	}
	line := s.line(e)
	if line == nil {
		return
	}
	for _, k := range s.sinks {
		if n := k.put(line, e); n > 0 {
			k.add(s.line(ofDropped(n)))
			k.put(line, e)
		}
	}
}

// line encodes an event; one that cannot be encoded becomes a note about that.
func (s *Stream) line(e Event) []byte {
	now, hide := s.now(), s.hide()
	line, err := e.encode(&s.buffer, now, hide)
	if err != nil {
		line, _ = Event{Level: Error, Message: fmt.Sprintf("An event of type %s cannot be written: %s", TypeOf(e.Body), err),
			Body: Note{}}.encode(&s.buffer, now, hide)
	}
	return line
}

// Close waits until each reader has read everything, or has read nothing for the duration
// of patience, or hurry is closed. It returns the errors by the names of the readers.
func (s *Stream) Close(patience time.Duration, hurry <-chan struct{}) map[string]error {
	s.mu.Lock()
	sinks := s.sinks
	s.closed = true
	s.mu.Unlock()
	problems := map[string]error{}
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, k := range sinks {
		wait.Go(func() {
			if err := k.close(patience, hurry); err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems[k.name] = err
			}
		})
	}
	wait.Wait()
	return problems
}
