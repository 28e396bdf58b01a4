package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"deployster/internal/ui/paint"
)

// redrawEvery is how often the region below the text is redrawn.
const redrawEvery = 100 * time.Millisecond

// maxPending is the maximum size, in bytes, of text that waits for the next redraw.
const maxPending = 64 << 10

// screen lets many goroutines print whole pieces. On a terminal it keeps a region below
// them, which it redraws a few times a second while a task runs, together with the text
// that has arrived meanwhile: so nothing flickers, and a program that prints much is not
// slowed down by the terminal.
type screen struct {
	size   func() (width, height int) // of the terminal; nil = there is none
	colors bool

	mu      sync.Mutex
	w       io.Writer
	frame   func(now time.Time, width, height int) []string // nil = there is no region
	drawn   []int                                           // cells of the region's lines on the terminal
	shown   string                                          // the text of these lines
	wide    int                                             // the width of the terminal when they were drawn
	pending strings.Builder                                 // text that waits to be printed above the region
	broken  bool                                            // the last piece did not end its line: a user may be typing there
	held    int                                             // the number of open questions
	asking  bool                                            // one of the questions makes other output wait
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

// also returns a writer for another stream on the same terminal, such as stdout: it
// removes the region before it writes.
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

// width returns the width of the terminal.
func (s *screen) width() int {
	width, _ := s.size()
	return width
}

// begin draws the lines of frame in the region, until end.
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

// end removes the region, and leaves the text.
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

// hold removes the region while a question is shown, until release is called.
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

// ask is hold for a question in the middle of an apply: other output waits for the
// answer, so that the question stays readable. The caller writes the question to w.
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

// flush writes the waiting text, and draws or removes the region below it: all in one
// write.
func (s *screen) flush(draw bool) {
	if s.frame == nil {
		return
	}
	width, height := s.size()
	var lines []string
	if draw {
		lines = s.frame(time.Now(), width, height)
	}
	text := paint.Colors(strings.Join(lines, "\n"), s.colors)
	if s.pending.Len() == 0 && text == s.shown && width == s.wide {
		return // a watch may show the same for days
	}
	var b strings.Builder
	s.erase(&b, width)
	b.WriteString(s.pending.String())
	s.pending.Reset()
	b.WriteString(text)
	for _, line := range lines {
		s.drawn = append(s.drawn, paint.Width(line))
	}
	s.shown, s.wide = text, width
	if b.Len() > 0 {
		_, _ = io.WriteString(s.w, b.String()) // an apply must not stop because nobody reads
	}
}

// erase removes the region, and leaves the cursor at its beginning. It counts the rows of
// lines that a terminal has wrapped because it became narrower.
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
