package terminal

import (
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/ui/render"
)

// pullView shows the progress of pulls: on a terminal on one changing line, otherwise as
// a few lines.
type pullView struct {
	Printer
	note func(string) // shows all pulls on one line; nil = there is no terminal

	mu   sync.Mutex
	open map[string]*pullShown
}

// pullShown is what was printed about one pull.
type pullShown struct {
	now   imagestore.Progress
	since time.Time // when the download began; zero = not yet
	told  time.Time
}

func newPullView(p Printer, note func(string)) *pullView {
	return &pullView{Printer: p, note: note, open: map[string]*pullShown{}}
}

// progress receives the progress of every pull. It is safe for concurrent use.
func (v *pullView) progress(p imagestore.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	name, now := diag.Visible(p.Reference), time.Now()
	s := v.open[p.Reference]
	if s == nil {
		s = &pullShown{told: now}
		v.open[p.Reference] = s
	}
	s.now = p
	switch p.Phase {
	case imagestore.Downloading:
		if s.since.IsZero() {
			s.since = now
			v.Printf("Pulling %s, %s\n", name, words.Bytes(p.Total))
		} else if v.note == nil && now.Sub(s.told) >= heartbeatEvery {
			s.told = now
			v.Printf("Pulling %s: %s of %s\n", name, words.Bytes(p.Done), words.Bytes(p.Total))
		}
	case imagestore.Retrying:
		v.Printf("Pulling %s: %s. Trying again in %s.\n", name, diag.Visible(p.Reason), p.Pause)
	case imagestore.Done:
		if !s.since.IsZero() {
			v.Printf("Pulled %s in %s\n", name, render.Took(now.Sub(s.since)))
		}
		delete(v.open, p.Reference)
	case imagestore.Failed:
		delete(v.open, p.Reference)
	}
	if v.note != nil {
		v.note(v.summary())
	}
}

// summary returns the progress of all pulls on one line.
func (v *pullView) summary() string {
	var done, total int64
	var one imagestore.Progress
	for _, s := range v.open {
		done, total, one = done+s.now.Done, total+s.now.Total, s.now
	}
	switch {
	case len(v.open) == 0:
		return ""
	case len(v.open) > 1:
		return fmt.Sprintf("pulling %d images: %s of %s", len(v.open), words.Bytes(done), words.Bytes(total))
	case one.Phase == imagestore.Downloading:
		return diag.Visible(fmt.Sprintf("%s of %s: %s", words.Bytes(done), words.Bytes(total), one.Reference))
	}
	return diag.Visible(fmt.Sprintf("%s %s", one.Phase, one.Reference))
}
