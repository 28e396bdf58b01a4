package cli

import (
	"testing"

	"deployster/internal/app/redact"
	"deployster/internal/app/runs"
)

// A run that adopts several actions asks for its records once for each, and
// nobody takes them from its hand: there is one, and nothing waits.
func TestRecords_BeginOnce(t *testing.T) {
	t.Parallel()
	a := &runContext{secrets: &redact.Redactor{}, ready: make(chan *runs.Recorder, 1)}
	dir := t.TempDir()
	first := a.record(dir, nil)
	for range 3 {
		if a.record(dir, nil) != first {
			t.Error("it was begun anew")
		}
	}
	first.Close()
}
