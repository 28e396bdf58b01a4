package render

import (
	"fmt"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/plan"
)

// Progress is the progress of a plan or an apply.
type Progress struct {
	Verb     string // Planning, Applying; "" = only the note is shown
	Since    time.Time
	Total    int // resources
	Done     int // resources that are done
	Failed   int // done resources that failed
	Stopping bool
	Tasks    []Task // the running tasks, the longest first
	Note     string // one more line, such as the image that is being pulled
}

// Task is a running task.
type Task struct {
	Address, Step string
	Since         time.Time
	Last          string // the last line that it printed, without secrets
}

// The columns of a task, in cells.
const (
	maxStepCells = 16
	timeCells    = 6
)

// Frame returns progress as lines that fit a terminal of that size, one cell less than
// its width, because some terminals wrap a full line. It has at most one line less than
// the terminal.
func Frame(p Progress, now time.Time, width, height int) []string {
	width--
	most := height - 1
	if width < 20 || most < 1 {
		return nil
	}
	if p.Verb == "" && p.Note == "" {
		return nil
	} else if p.Verb == "" {
		return []string{Dim(Fit(singleLine(p.Note), width))}
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
		address = max(address, Width(diag.Visible(t.Address)))
		step = max(step, Width(diag.Visible(t.Step)))
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
		lines = append(lines, Dim(Fit(fmt.Sprintf("  and %d more", more), width)))
	}
	if p.Note != "" && most > 0 {
		lines = append(lines, Dim(Fit("  "+singleLine(p.Note), width)))
	}
	return lines
}

// headline returns the first line of a frame.
func headline(p Progress, now time.Time, width int) string {
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
	state += ", " + Clock(now.Sub(p.Since))
	bar := ""
	if room := min(30, width-Width(p.Verb)-Width(state)-4); room >= 10 && p.Total > 0 {
		full := min(room-2, (room-2)*p.Done/p.Total)
		bar = "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-2-full) + "] "
	}
	text := Fit(p.Verb+" "+bar+state, width)
	switch rest, ok := strings.CutPrefix(text, p.Verb); {
	case ok && p.Failed > 0:
		return Bold(Red(p.Verb)) + rest
	case ok && p.Stopping:
		return Bold(Yellow(p.Verb)) + rest
	case ok:
		return Bold(p.Verb) + rest
	}
	return text
}

// line returns the line of a task: address, step, time and last output line.
func (t Task) line(now time.Time, address, step, width int) string {
	name := FitMiddle(singleLine(t.Address), address)
	what := Fit(singleLine(t.Step), step)
	took := Clock(now.Sub(t.Since))
	head := "  " + fill(name, address) + "  " + fill(what, step) + "  " + strings.Repeat(" ", max(0, timeCells-len(took))) + took
	room := width - Width(head) - 2
	if room < 0 {
		return Fit(head, width)
	}
	if last := singleLine(t.Last); last != "" && room > 5 {
		return head + "  " + Dim(Fit(last, room))
	}
	return head
}

// singleLine returns a text on one line, safe to show.
func singleLine(text string) string {
	return diag.Visible(strings.Join(strings.Fields(text), " "))
}

// Clock formats a duration that still grows: 0.4s, 12s, 3m05s, 1h02m.
func Clock(d time.Duration) string {
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

// Took formats a duration that has ended: 340ms, 1.2s, 3m5s.
func Took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// Past returns the past participle of a change: created, updated.
func Past(c plan.Change) string {
	switch c {
	case plan.Create:
		return "created"
	case plan.Publish:
		return "published"
	case plan.Replace:
		return "replaced"
	case plan.Destroy:
		return "destroyed"
	case plan.Forget:
		return "forgotten"
	case plan.Record, plan.Left:
		return "recorded"
	case plan.Deferred:
		return "done"
	}
	return "updated"
}
