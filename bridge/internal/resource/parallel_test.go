package resource

import (
	"context"
	"io"
	"testing"
)

// A process works on as many resources at one time as is said, ten by default, and each
// config has a process of its own.
func TestTake_AsManyAsAreSaid(t *testing.T) {
	for said, want := range map[int]int{0: 10, 3: 3} {
		p := timeProvider(t)
		p.Parallel = said
		var ends []func()
		for range want {
			_, done, err := p.take(t.Context(), nil, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, done)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, _, err := p.take(ended, nil, io.Discard); err == nil {
			t.Errorf("%d are worked on at one time", want+1)
		}
		if _, done, err := p.take(t.Context(), map[string]any{}, io.Discard); err != nil {
			t.Errorf("another config waits: %v", err)
		} else {
			done()
		}
		ends[0]()
		if _, done, err := p.take(t.Context(), nil, io.Discard); err != nil {
			t.Errorf("the place of one that has ended is not given away: %v", err)
		} else {
			done()
		}
	}
}
