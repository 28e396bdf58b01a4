package router

import (
	"strings"
	"sync/atomic"
	"testing"

	"deployster/internal/runtime/runner"
)

// What an action prints is passed on as it comes, also after the connection was lost, and
// nothing of it twice.
func TestPlaces_ShowWhatIsPrintedAfterALoss(t *testing.T) {
	n := &network{machines: map[string]*machine{"web": newMachine("web")}}
	p := newPlaces(t, n)
	s := probe(t, p, "web", "id1", "tick")
	var shown strings.Builder
	s.Stdout = both{&shown, func() {
		if n.dialled.Load() == 1 {
			n.there.Store(1) // the next word of the host breaks the connection
		}
	}}
	if _, err := p.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if shown.String() != "one\ntwo\n" || n.dialled.Load() != 2 {
		t.Errorf("%q was shown over %d connections", shown.String(), n.dialled.Load())
	}
}

// both writes, and does something after that.
type both struct {
	to   *strings.Builder
	then func()
}

func (b both) Write(p []byte) (int, error) {
	defer b.then()
	return b.to.Write(p)
}

// Who adopts an action is told once that it runs, and what it prints, however often the
// connection is lost.
func TestPlaces_AdoptOverLosses(t *testing.T) {
	web := newMachine("web")
	n := &network{machines: map[string]*machine{"web": web}}
	p := newPlaces(t, n)
	web.actions["id1"] = &begun{ended: make(chan struct{}), out: runner.Outcome{Fate: runner.Exited}, printed: []byte("one\n")}
	var shown strings.Builder
	var running atomic.Int64
	cut := false
	w := runner.Watch{Running: func() { running.Add(1) }, Stdout: both{&shown, func() {
		if !cut {
			cut = true
			_ = p.hosts["web"].client.Close()
			web.mu.Lock()
			defer web.mu.Unlock()
			web.actions["id1"].printed = []byte("one\ntwo\n")
			close(web.actions["id1"].ended)
		}
	}}}
	out, err := p.AdopterFor(&runner.Host{Name: "web", Address: "web"}).Adopt(t.Context(), "id1", w)
	if err != nil || out.Fate != runner.Exited || shown.String() != "one\ntwo\n" || running.Load() != 1 || n.dialled.Load() != 2 {
		t.Errorf("%+v, %v; %q was shown; told %d times that it runs; %d connections", out, err, shown.String(), running.Load(), n.dialled.Load())
	}
}

// A host hands out all of what is not much, and the end of what is more: then it is shown,
// even if some of it was shown before.
func TestLive_ShowsWhatIsHandedOutAgain(t *testing.T) {
	var shown strings.Builder
	w := once(&shown)
	write := func(text string) {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	write("ab")
	fromBegin(w)
	for _, text := range []string{"a", "bc", "", "d"} {
		write(text)
	}
	fromBegin(once(w))
	write("abcdef")
	if shown.String() != "abcdef" {
		t.Errorf("%q was shown", shown.String())
	}
	write(strings.Repeat("x", mostAgain))
	shown.Reset()
	fromBegin(w)
	write("the end")
	if shown.String() != "the end" {
		t.Errorf("%q was shown of what printed much", shown.String())
	}
	if once(nil) != nil {
		t.Error("nobody watches, and it is written to")
	}
}
