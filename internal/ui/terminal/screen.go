package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"deployster/internal/ui/render"
)

// redrawEvery is how often the region below the text is drawn anew.
const redrawEvery = 100 * time.Millisecond

// maxPending is how much text may wait for the next drawing, in bytes.
const maxPending = 64 << 10

// screen lets many goroutines print whole pieces. On a terminal it keeps a
// region below them, which is drawn anew a few times a second while something
// is going on, together with the text that came meanwhile: so nothing flickers,
// and a program that prints much does not make the terminal the slowest part.
type screen struct {
	size   func() (width, height int) // of the terminal; nil = there is none
	colors bool

	mu      sync.Mutex
	w       io.Writer
	frame   func(now time.Time, width, height int) []string // nil = there is no region
	drawn   []int                                           // cells of the lines that stand there
	shown   string                                          // those lines
	wide    int                                             // the terminal when they were drawn
	pending strings.Builder                                 // text above the region that waits
	broken  bool                                            // the last piece did not end its line: somebody may be typing in it
	held    int                                             // questions that are being asked
	asking  bool                                            // one of them keeps what others print waiting
	done    chan struct{}
	ended   sync.WaitGroup
}

// Write prints a piece above the region.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frame == nil {
		s.broken = len(p) > 0 && p[len(p)-1] != '\n'
		return s.w.Write(p)
	}
	s.pending.Write(p)
	if s.asking && s.pending.Len() <= maxPending {
		return len(p), nil
	}
	if s.broken = len(p) > 0 && p[len(p)-1] != '\n'; s.broken || s.held > 0 || s.pending.Len() > maxPending {
		s.flush(!s.broken && s.held == 0)
	}
	return len(p), nil
}

// also makes another writer to the same terminal, such as stdout, keep clear of
// the region.
func (s *screen) also(w io.Writer) io.Writer { return &beside{s, w} }

type beside struct {
	screen *screen
	w      io.Writer
}

func (b *beside) Write(p []byte) (int, error) {
	b.screen.mu.Lock()
	defer b.screen.mu.Unlock()
	b.screen.flush(false)
	return b.w.Write(p)
}

// width is that of the terminal.
func (s *screen) width() int {
	width, _ := s.size()
	return width
}

// begin draws what frame gives from now on, until end.
func (s *screen) begin(frame func(now time.Time, width, height int) []string) {
	if s.size == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frame != nil {
		return
	}
	done := make(chan struct{})
	s.frame, s.done = frame, done
	s.ended.Go(func() {
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				s.mu.Lock()
				if s.frame != nil && !s.broken && s.held == 0 {
					s.flush(true)
				}
				s.mu.Unlock()
			}
		}
	})
}

// end takes the region away, and leaves the text.
func (s *screen) end() {
	s.mu.Lock()
	if s.frame == nil {
		s.mu.Unlock()
		return
	}
	s.flush(false)
	s.frame = nil
	close(s.done)
	s.mu.Unlock()
	s.ended.Wait()
}

// hold takes the region away while a question is asked, until what it gives is
// called.
func (s *screen) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	s.flush(false)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
		s.broken = false // the answer has ended the line
	}
}

// ask is hold for a question in the middle of an apply: what others print waits
// for the answer, so that the question stays where it can be read. It is written
// to w.
func (s *screen) ask() (w io.Writer, release func()) {
	free := s.hold()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = true
	return s.w, func() {
		s.mu.Lock()
		s.asking = false
		s.mu.Unlock()
		free()
	}
}

// flush writes the text that waits, and draws the region below it or takes it
// away: all in one piece.
func (s *screen) flush(draw bool) {
	if s.frame == nil {
		return
	}
	width, height := s.size()
	var lines []string
	if draw {
		lines = s.frame(time.Now(), width, height)
	}
	text := render.Colors(strings.Join(lines, "\n"), s.colors)
	if s.pending.Len() == 0 && text == s.shown && width == s.wide {
		return // a watch shows the same for days
	}
	var b strings.Builder
	s.erase(&b, width)
	b.WriteString(s.pending.String())
	s.pending.Reset()
	b.WriteString(text)
	for _, line := range lines {
		s.drawn = append(s.drawn, render.Width(line))
	}
	s.shown, s.wide = text, width
	if b.Len() > 0 {
		_, _ = io.WriteString(s.w, b.String()) // nobody who reads no more must stop an apply
	}
}

// erase removes the region, and leaves the cursor where it began. A terminal
// that has become narrower since has broken its lines.
func (s *screen) erase(b *strings.Builder, width int) {
	if len(s.drawn) == 0 {
		return
	}
	rows := 0
	for _, cells := range s.drawn {
		rows += max(1, (cells+width-1)/max(1, width))
	}
	s.drawn = s.drawn[:0]
	b.WriteString("\r")
	if rows > 1 {
		fmt.Fprintf(b, "\x1b[%dA", rows-1)
	}
	b.WriteString("\x1b[J")
}
