package events

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"deployster/internal/base/jsondoc"
)

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
	Run     string // the run that it belongs to, where one stream tells of several
}

// Body is what an event of one type says beyond its message: a struct of this package.
type Body any

// TypeOf returns the word by which programs know events with a body: planned_change of
// PlannedChange.
func TypeOf(b Body) string {
	name := reflect.TypeOf(b).Name()
	word := make([]byte, 0, len(name)+4)
	for i, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			if i > 0 && name[i-1] >= 'a' {
				word = append(word, '_')
			}
			c += 'a' - 'A'
		}
		word = append(word, c)
	}
	return string(word)
}

// minor reports whether an event may be left out when a reader is too slow.
func (e Event) minor() bool {
	_, isLog := e.Body.(Log)
	return e.Level == Debug || isLog
}

// timeForm is RFC 3339, always as long.
const timeForm = "2006-01-02T15:04:05.000Z"

// encode gives the event's line, with what must not be shown hidden. It uses b,
// and keeps nothing of it.
func (e Event) encode(b *bytes.Buffer, now time.Time, hide func(string) string) ([]byte, error) {
	b.Reset()
	b.WriteString(`{"type":"` + TypeOf(e.Body) + `","time":"`)
	b.Write(now.UTC().AppendFormat(b.AvailableBuffer(), timeForm))
	b.WriteString(`","level":"` + string(e.Level) + `","message":`)
	b.Write(jsondoc.AppendText(b.AvailableBuffer(), e.Message))
	if e.Run != "" {
		b.WriteString(`,"run":`)
		b.Write(jsondoc.AppendText(b.AvailableBuffer(), e.Run))
	}
	if err := writeMembers(b, e.Body); err != nil {
		return nil, err
	}
	line := b.Bytes()
	if hide != nil {
		line = Redact(line, hide)
	}
	return escaped(line), nil
}

// writeMembers writes the members of a body behind those of all events, and the
// end of the line.
func writeMembers(b *bytes.Buffer, body Body) error {
	end := b.Len()
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return err
	}
	if members := b.Bytes()[end:]; string(members) == "{}\n" {
		b.Truncate(end)
		b.WriteString("}\n")
	} else {
		members[0] = ','
	}
	return nil
}
