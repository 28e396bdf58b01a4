package events

import (
	"bytes"
	"time"
)

// Line returns an event as one line of JSON, as it was sent at a time, without a newline. A nil hide means
// that there are no secrets.
func Line(e Event, at time.Time, hide func(string) string) ([]byte, error) {
	line, err := e.encode(&bytes.Buffer{}, at, hide)
	return bytes.TrimRight(line, "\n"), err
}
