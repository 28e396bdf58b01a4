package state

import (
	"reflect"
	"strconv"
	"time"

	"deployster/internal/base/jsondoc"
)

// What each resource has written again and again, in the journal and in the state
// file, is written here as jsondoc.Encode would, and in a quarter of the time.
// What is rare in it is left to that.

// appendRecord writes a record.
func appendRecord(to []byte, r record) ([]byte, error) {
	if r.Begin != nil || r.Outputs != nil || r.Moves != nil || r.Head != nil || r.Sealed != nil || !plainTime(r.Time) {
		whole, err := jsondoc.Encode(r)
		return append(to, whole...), err
	}
	to = strconv.AppendUint(append(to, `{"seq":`...), r.Seq, 10)
	to = jsondoc.AppendText(append(to, `,"prev":`...), r.Prev)
	to = strconv.AppendUint(append(to, `,"durable":`...), r.Durable, 10)
	to = appendTime(append(to, `,"time":`...), r.Time)
	to = jsondoc.AppendText(append(to, `,"kind":`...), string(r.Kind))
	to = appendNamed(to, `,"address":`, r.Address)
	to = appendNamed(to, `,"action":`, r.Action)
	to = appendNamed(to, `,"idempotency_key":`, r.Key)
	if r.Exit != nil {
		to = strconv.AppendInt(append(to, `,"exit":`...), int64(*r.Exit), 10)
	}
	to = appendNamed(to, `,"reason":`, r.Reason)
	if r.Entry != nil {
		var err error
		if to, err = appendEntry(append(to, `,"entry":`...), r.Entry); err != nil {
			return to, err
		}
	}
	return append(to, '}'), nil
}

// appendEntry writes an entry whose documents are in canonical form.
func appendEntry(to []byte, e *Entry) ([]byte, error) {
	if e.rare() {
		whole, err := jsondoc.Encode(e)
		return append(to, whole...), err
	}
	to = jsondoc.AppendText(append(to, `{"type":`...), e.Type)
	to = jsondoc.AppendText(append(to, `,"digest":`...), e.Digest)
	to = append(append(to, `,"config":`...), e.Config...)
	if len(e.State) > 0 {
		to = append(append(to, `,"state":`...), e.State...)
	}
	for i, name := range e.Dependencies {
		to = jsondoc.AppendText(append(to, opening(i, `,"dependencies":[`)...), name)
	}
	to = closing(to, len(e.Dependencies))
	if !e.ValidAt.IsZero() {
		to = appendTime(append(to, `,"valid_at":`...), e.ValidAt)
	}
	for i, m := range e.Mounts {
		to = jsondoc.AppendText(append(append(to, opening(i, `,"mounts":[`)...), `{"source":`...), m.Source)
		to = jsondoc.AppendText(append(to, `,"target":`...), m.Target)
		to = append(appendFlag(to, `,"writable":true`, m.Writable), '}')
	}
	to = closing(to, len(e.Mounts))
	to = appendFlag(to, `,"read_only":true`, e.ReadOnly)
	to = appendFlag(to, `,"prevent_destroy":true`, e.PreventDestroy)
	to = appendNamed(to, `,"on_remove":`, e.OnRemove)
	return append(appendFlag(to, `,"touched":true`, e.Dirty), '}'), nil
}

// rare reports whether an entry has what appendEntry does not write.
func (e *Entry) rare() bool {
	return len(e.Config) == 0 || len(e.Aliases) > 0 || e.StateTimeout != 0 || e.ActionTimeout != 0 || e.LastSeen != nil ||
		!plainTime(e.ValidAt) || !reflect.ValueOf(&e.Settings).Elem().IsZero() || !reflect.ValueOf(&e.Sensitive).Elem().IsZero()
}

// plainTime says of a time that its JSON is its text.
func plainTime(t time.Time) bool {
	return t.Location() == time.UTC && t.Year() >= 0 && t.Year() <= 9999
}

func appendTime(to []byte, t time.Time) []byte {
	return append(t.AppendFormat(append(to, '"'), time.RFC3339Nano), '"')
}

// appendNamed writes a member that is left out where it is empty.
func appendNamed(to []byte, name, text string) []byte {
	if text == "" {
		return to
	}
	return jsondoc.AppendText(append(to, name...), text)
}

func appendFlag(to []byte, member string, set bool) []byte {
	if !set {
		return to
	}
	return append(to, member...)
}

// opening is what stands before the element i of a list.
func opening(i int, first string) string {
	if i == 0 {
		return first
	}
	return ","
}

func closing(to []byte, elements int) []byte {
	if elements == 0 {
		return to
	}
	return append(to, ']')
}
