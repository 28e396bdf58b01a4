package state

import (
	"errors"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

// Why a shared state cannot be recorded is told in the words of its store, and the same for
// each fact and at the end: it is no fault of a disk.
func TestRemote_SaysOnceWhyItCannotBeRecorded(t *testing.T) {
	for want, lose := range map[string]func(t *testing.T, a, b *machine){
		"The state was taken over":    func(t *testing.T, _, b *machine) { ok(t, b.open(t, waits).Close()) },
		"The state cannot be reached": func(_ *testing.T, a, _ *machine) { a.setCut(true) },
	} {
		t.Run(want, func(t *testing.T) {
			a, b := two(t, inDir())
			s := a.open(t, Options{})
			j := mustBegin(t, s, "p")
			ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}))
			lose(t, a, b)
			said := map[string]bool{}
			for _, err := range []error{j.ActionEnded("x", "make", End{}), j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"})} {
				refused(t, err, ErrBroken)
				said[err.Error()] = true
			}
			err := j.Finish(StatusError)
			if d, worded := errors.AsType[*diag.Diagnostic](err); !worded || d.Summary != want || strings.Contains(d.Detail, "disk") {
				t.Errorf("it is told %v", err)
			}
			if said[err.Error()] = true; len(said) != 1 {
				t.Errorf("it is told in several ways: %q", said)
			}
			ok(t, s.Close())
		})
	}
}
