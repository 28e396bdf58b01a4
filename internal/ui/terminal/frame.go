package terminal

import (
	"fmt"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/ui/paint"
)

// progressState is the progress of a plan or an apply.
type progressState struct {
	Verb     string // Planning, Applying; "" = only the note is shown
	Since    time.Time
	Total    int // resources
	Done     int // resources that are done
	Failed   int // done resources that failed
	Stopping bool
	Tasks    []task // the running tasks, the longest first
	Note     string // one more line, such as the image that is being pulled
}

// task is a running task.
type task struct {
	Address, Step string
	Since         time.Time
	Last          string // the last line that it printed, without secrets
	On, Reason    string // the host on which it waits, and why; "" = it has begun
}

// The columns of a task, in cells.
const (
	maxStepCells = 16
	timeCells    = 6
)

// frameOf returns progress as lines that fit a terminal of that size, one cell less than
// its width, because some terminals wrap a full line. It has at most one line less than
// the terminal.
func frameOf(p progressState, now time.Time, width, height int) []string {
	width--
	most := height - 1
	if width < 20 || most < 1 {
		return nil
	}
	if p.Verb == "" && p.Note == "" {
		return nil
	} else if p.Verb == "" {
		return []string{paint.Dim(paint.Fit(singleLine(p.Note), width))}
	}
	lines := []string{headline(p, now, width)}
	if p.Note != "" {
		most--
	}
	room := most - 1
	tasks, more := p.Tasks, 0
	if len(tasks) > room {
		more = len(tasks) - max(0, room-1)
		tasks = tasks[:max(0, room-1)]
	}
	address, step := 0, 0
	for _, t := range tasks {
		address = max(address, paint.Width(diag.Visible(t.Address)))
		step = max(step, paint.Width(diag.Visible(t.Step)))
	}
	step = min(step, maxStepCells)
	widest := width * 2 / 5
	if width < 60 { // there is no room for a task's last line
		widest = max(widest, width-step-timeCells-6)
	}
	address = min(address, widest)
	for _, t := range tasks {
		lines = append(lines, t.line(now, address, step, width))
	}
	if more > 0 && room > 0 {
		lines = append(lines, paint.Dim(paint.Fit(fmt.Sprintf("  and %d more", more), width)))
	}
	if p.Note != "" && most > 0 {
		lines = append(lines, paint.Dim(paint.Fit("  "+singleLine(p.Note), width)))
	}
	return lines
}

// headline returns the first line of a frame.
func headline(p progressState, now time.Time, width int) string {
	state := fmt.Sprintf("%d of %d done", p.Done, p.Total)
	if len(p.Tasks) > 0 {
		state += fmt.Sprintf(", %d running", len(p.Tasks))
	}
	if p.Failed > 0 {
		state += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Stopping {
		state += ", stopping"
	}
	state += ", " + clock(now.Sub(p.Since))
	bar := ""
	if room := min(30, width-paint.Width(p.Verb)-paint.Width(state)-4); room >= 10 && p.Total > 0 {
		full := min(room-2, (room-2)*p.Done/p.Total)
		bar = "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-2-full) + "] "
	}
	text := paint.Fit(p.Verb+" "+bar+state, width)
	switch rest, ok := strings.CutPrefix(text, p.Verb); {
	case ok && p.Failed > 0:
		return paint.Bold(paint.Red(p.Verb)) + rest
	case ok && p.Stopping:
		return paint.Bold(paint.Yellow(p.Verb)) + rest
	case ok:
		return paint.Bold(p.Verb) + rest
	}
	return text
}

// line returns the line of a task: address, step, time and last output line.
func (t task) line(now time.Time, address, step, width int) string {
	name := paint.FitMiddle(singleLine(t.Address), address)
	what := paint.Fit(singleLine(t.Step), step)
	took := clock(now.Sub(t.Since))
	head := "  " + paint.Fill(name, address) + "  " + paint.Fill(what, step) + "  "
	if t.Reason != "" {
		return paint.Fit(head+"waiting on "+singleLine(t.On)+" "+took+": "+singleLine(t.Reason), width)
	}
	head += strings.Repeat(" ", max(0, timeCells-len(took))) + took
	room := width - paint.Width(head) - 2
	if room < 0 {
		return paint.Fit(head, width)
	}
	if last := singleLine(t.Last); last != "" && room > 5 {
		return head + "  " + paint.Dim(paint.Fit(last, room))
	}
	return head
}

// singleLine returns a text on one line, safe to show.
func singleLine(text string) string {
	return diag.Visible(strings.Join(strings.Fields(text), " "))
}

// clock formats a duration that still grows: 0.4s, 12s, 3m05s, 1h02m.
func clock(d time.Duration) string {
	switch {
	case d < 0:
		return "0.0s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
