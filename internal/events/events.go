// Package events is the tool's output for programs: what a command does, as one
// JSON object a line. It has the events, what makes them of what plan and apply
// report, and the stream that takes them to readers who may be slow, dead, or
// not there yet. docs/json.md describes it for those who read it.
package events

import "time"

// Format is the version of the stream. Within it new types of events and new
// keys may appear; none goes away or changes what it means.
const Format = 1

// Level says how much an event matters.
type Level string

// The levels, as diagnostics name theirs.
const (
	Debug   Level = "debug" // steps in between
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// Event is one line of the stream.
type Event struct {
	Level   Level
	Message string // a sentence for people
	Body    Body
}

// Body is what an event of one type says beyond its message.
type Body interface {
	// Type is the word by which programs know it.
	Type() string
}

// minor says whether an event may be left out when a reader is too slow.
func (e Event) minor() bool {
	return e.Level == Debug || e.Body.Type() == (Log{}).Type()
}

// timeForm is RFC 3339, always as long.
const timeForm = "2006-01-02T15:04:05.000Z"

// head is what all events have.
type head struct {
	Type    string `json:"type"`
	Time    string `json:"time"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
}

// encode gives the event's line, with what must not be shown hidden.
func (e Event) encode(now time.Time, hide func(string) string) ([]byte, error) {
	first, err := marshal(head{e.Body.Type(), now.UTC().Format(timeForm), e.Level, e.Message})
	if err != nil {
		return nil, err
	}
	rest, err := marshal(e.Body)
	if err != nil {
		return nil, err
	}
	line := first
	if len(rest) > len("{}") {
		line = append(append(first[:len(first)-1], ','), rest[1:]...)
	}
	if hide != nil {
		line = Hidden(line, hide)
	}
	return append(escaped(line), '\n'), nil
}
