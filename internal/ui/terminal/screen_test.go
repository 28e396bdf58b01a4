package terminal

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/paint"
	"deployster/plan"
)

// paper is a terminal that keeps all that has scrolled away: it knows what the
// screen sends, and nothing else.
type paper struct {
	t        *testing.T
	width    int
	height   int
	rows     [][]rune
	row, col int
}

func (p *paper) Write(b []byte) (int, error) {
	text := []rune(string(b))
	for i := 0; i < len(text); i++ {
		switch r := text[i]; {
		case r == '\r':
			p.col = 0
		case r == '\n':
			p.row, p.col = p.row+1, 0
		case r == 0x1b:
			end := i + 2
			for text[end] >= '0' && text[end] <= '9' || text[end] == ';' {
				end++
			}
			p.escape(string(text[i+2:end]), text[end])
			i = end
		default:
			if p.col == p.width {
				p.row, p.col = p.row+1, 0
			}
			p.at(p.row)
			for len(p.rows[p.row]) <= p.col {
				p.rows[p.row] = append(p.rows[p.row], ' ')
			}
			p.rows[p.row][p.col] = r
			p.col++
		}
		p.at(p.row)
	}
	return len(b), nil
}

func (p *paper) at(row int) {
	for len(p.rows) <= row {
		p.rows = append(p.rows, nil)
	}
}

func (p *paper) escape(arg string, what rune) {
	switch what {
	case 'A':
		n := 0
		_, _ = fmt.Sscan(arg, &n)
		if p.row -= n; p.row < 0 || p.row < len(p.rows)-p.height {
			p.t.Errorf("the cursor left the top of the terminal by %d rows", n)
			p.row = max(0, p.row)
		}
	case 'J':
		p.rows = p.rows[:p.row+1]
		p.rows[p.row] = p.rows[p.row][:min(p.col, len(p.rows[p.row]))]
	case 'm':
	default:
		p.t.Errorf("unknown escape %q%c", arg, what)
	}
}

func (p *paper) text() string {
	var b strings.Builder
	for _, row := range p.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

// What is printed stands above the region whole and in order, whatever is drawn
// meanwhile, and nothing of the region is left.
func TestScreen_KeepsTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		terminal := &paper{t: t, width: 20 + r.IntN(100), height: 3 + r.IntN(20)}
		lines := 0
		s := &screen{w: terminal, size: func() (int, int) { return terminal.width, terminal.height }}
		result := s.also(terminal)
		s.begin(func(_ time.Time, width, height int) []string {
			list := make([]string, min(lines, height-1))
			for i := range list {
				list[i] = strings.Repeat("#", width-1)
			}
			return list
		})
		var want strings.Builder
		for n := range 30 {
			s.mu.Lock()
			lines = r.IntN(30)
			s.mu.Unlock()
			switch r.IntN(5) {
			case 0:
				s.mu.Lock()
				s.flush(true)
				s.mu.Unlock()
			case 1:
				fmt.Fprintf(&want, "result %d\n", n)
				fmt.Fprintf(result, "result %d\n", n)
			case 2:
				fmt.Fprintf(&want, "question %d? yes\n", n)
				fmt.Fprintf(s, "question %d? ", n)
				fmt.Fprintf(terminal, "yes\n") // what the person types is echoed
				release := s.hold()
				release()
			default:
				fmt.Fprintf(&want, "line %d\n", n)
				fmt.Fprintf(s, "line %d\n", n)
			}
		}
		s.end()
		s.end() // again is nothing
		_, _ = io.WriteString(s, "the end\n")
		if got := terminal.text(); got != want.String()+"the end\n\n" {
			t.Fatalf("round %d: the terminal shows\n%s\nwant\n%s", round, got, want.String())
		}
	}
}

// A terminal that has become narrower has broken the lines of the region.
func TestScreen_RedrawsAfterAResize(t *testing.T) {
	terminal := &paper{t: t, width: 80, height: 24}
	s := &screen{w: terminal, size: func() (int, int) { return terminal.width, terminal.height }}
	s.drawn = []int{79, 79, 10}
	terminal.width = 40
	terminal.rows, terminal.row, terminal.col = [][]rune{[]rune("before"), nil, nil, nil, nil, nil}, 5, 10
	s.frame = func(time.Time, int, int) []string { return nil }
	s.flush(false)
	if terminal.row != 1 {
		t.Errorf("the region is taken away from row %d on, want 1", terminal.row)
	}
}

func TestScreen_IsForManyGoroutines(t *testing.T) {
	terminal := &paper{t: t, width: 80, height: 24}
	l := newLive(func(s string) string { return s })
	s := &screen{w: terminal, size: func() (int, int) { return 80, 24 }}
	l.begin("Applying", 400)
	s.begin(l.frame)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				addr := fmt.Sprintf("r%d_%d", g, i)
				l.Applying(apply.Checking{Address: addr})
				l.Applying(apply.ActionStarted{Address: addr, Action: "make"})
				l.Line(typeclient.Line{Address: addr, Text: "hello"})
				fmt.Fprintf(s, "%s\n", addr)
				l.setNote(addr)
				l.Applying(apply.ActionEnded{Address: addr, Action: "make"})
				l.Applying(apply.ResourceEnded{Address: addr, Change: plan.Create, Report: apply.ResourceReport{Status: apply.OK}})
			}
		})
	}
	group.Wait()
	s.end()
	if got := strings.Count(terminal.text(), "\n"); got != 401 {
		t.Errorf("%d lines, want 400 and the last one, which is empty", got)
	}
	if l.p.Done != 400 || len(l.tasks) != 0 {
		t.Errorf("%d are done, %d still run", l.p.Done, len(l.tasks))
	}
}

// What runs is shown with its last line, without secrets; what is over is not.
func TestLive_Learns(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLive(func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") })
	l.now = func() time.Time { return now }
	l.begin("Planning", 3)
	l.Planning(plan.Asking{Address: "a"})
	l.Planning(plan.Asking{Address: "b"})
	l.Planning(plan.Asking{Address: "c"})
	l.Line(typeclient.Line{Address: "a", Text: "the s3cret\tis out"})
	l.Line(typeclient.Line{Address: "nobody", Text: "x"})
	l.Planning(plan.Decided{Address: "b", Change: plan.Valid})
	l.Planning(plan.Failed{Address: "c"})
	frame := paint.Colors(strings.Join(l.frame(now.Add(2*time.Second), 80, 24), "\n"), false)
	want := "Planning [==================         ] 2 of 3 done, 1 running, 1 failed, 2.0s\n  a  state    2.0s  the *** is out"
	if frame != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", frame, want)
	}
	l.begin("Applying", 2)
	l.Applying(apply.ActionStarted{Address: "a", Action: "make"})
	l.Applying(apply.Stopping{})
	l.Applying(apply.ResourceEnded{Address: "v", Change: plan.Valid, Report: apply.ResourceReport{Status: apply.Unchanged}})
	frame = paint.Colors(strings.Join(l.frame(now, 80, 24), "\n"), false)
	if want := "Applying [                           ] 0 of 2 done, 1 running, stopping, 0.0s\n  a  make    0.0s"; frame != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", frame, want)
	}
}
