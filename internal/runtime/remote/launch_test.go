package remote

import (
	"errors"
	"testing"
)

// A program may have ended before its start was noticed.
func TestLaunch_ReturnsAProgramThatHasEnded(t *testing.T) {
	begun, gone, never := make(chan struct{}), make(chan struct{}), make(chan struct{})
	close(begun)
	close(gone)
	refused := errors.New("no such program")
	for range 100 { // by chance
		for name, c := range map[string]struct {
			begun <-chan struct{}
			err   error
			fails bool
		}{
			"ended":              {begun, nil, false},
			"ended with a fault": {begun, refused, false},
			"refused":            {never, refused, true},
			"ended, not begun":   {never, nil, true},
		} {
			p := &process{gone: gone, err: c.err}
			if err := p.started(c.begun); (err != nil) != c.fails || c.fails && c.err != nil && !errors.Is(err, c.err) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
