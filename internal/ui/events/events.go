package events

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"deployster/internal/base/jsondoc"
)

// Format is the version of the stream. Within a version, new types of events and new keys
// may be added; none is removed or changes its meaning.
const Format = 2

// Level is the severity of an event.
type Level string

// The levels, named like those of diagnostics.
const (
	Debug   Level = "debug" // intermediate steps
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// Event is one line of the stream.
type Event struct {
	Level   Level
	Message string // a sentence for people
	Body    Body
	Run     string // the run that it belongs to, if a stream has the events of several
}

// Body is the data of an event of one type, besides its message: a struct of this package.
type Body any

// TypeOf returns the type of an event with this body, as programs see it: planned_change
// for PlannedChange.
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

// timeForm is RFC 3339 with a fixed length.
const timeForm = "2006-01-02T15:04:05.000Z"

// encode returns the event's line, with secrets hidden. It uses b as a buffer; the result
// does not refer to it.
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
	return escaped(Redact(b.Bytes(), hide)), nil
}

// writeMembers writes the members of a body after the members of all events, and the end
// of the line.
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
