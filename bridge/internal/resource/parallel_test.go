package resource

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A config that is refused is asked about once for all resources that have it, and again
// later; another config has nothing to do with that.
func TestTake_RefusedOnce(t *testing.T) {
	p := timeProvider(t)
	begun := filepath.Join(t.TempDir(), "begun")
	program := filepath.Join(t.TempDir(), "provider")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho begun >>"+begun+"\nexec "+p.Path+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Path = program
	times := func() int {
		text, err := os.ReadFile(begun)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "begun")
	}
	wrong := map[string]any{"nonsense": true}
	for range 3 {
		if _, _, err := p.take(t.Context(), wrong, false, io.Discard); err == nil || !strings.Contains(err.Error(), "does not know it") {
			t.Fatalf("it says %v", err)
		}
	}
	if n := times(); n != 1 {
		t.Errorf("it was begun %d times to hear the same", n)
	}
	if _, done, err := p.take(t.Context(), nil, false, io.Discard); err != nil {
		t.Error(err)
	} else {
		done()
	}
	for _, one := range p.open {
		one.refused.at = one.refused.at.Add(-refusedFor)
	}
	if _, _, err := p.take(t.Context(), wrong, false, io.Discard); err == nil || times() != 3 {
		t.Errorf("later it is not asked again: %v, begun %d times", err, times())
	}
}

// A process works on as many resources at one time as is said, ten by default, and each
// config has a process of its own.
func TestTake_AsManyAsAreSet(t *testing.T) {
	for said, want := range map[int]int{0: 10, 3: 3} {
		p := timeProvider(t)
		p.Parallel = said
		var ends []func()
		for range want {
			_, done, err := p.take(t.Context(), nil, false, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, done)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, _, err := p.take(ended, nil, false, io.Discard); err == nil {
			t.Errorf("%d are worked on at one time", want+1)
		}
		if _, done, err := p.take(t.Context(), map[string]any{}, false, io.Discard); err != nil {
			t.Errorf("another config waits: %v", err)
		} else {
			done()
		}
		ends[0]()
		if _, done, err := p.take(t.Context(), nil, false, io.Discard); err != nil {
			t.Errorf("the place of one that has ended is not given away: %v", err)
		} else {
			done()
		}
	}
}
