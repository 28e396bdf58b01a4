package terminal

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
)

// live is the progress that a terminal shows below the text.
type live struct {
	hide func(string) string
	now  func() time.Time

	mu    sync.Mutex
	p     progressState
	tasks map[string]*task // by address
	note  string
}

func newLive(hide func(string) string) *live {
	return &live{hide: hide, now: time.Now, tasks: map[string]*task{}}
}

// begin starts the progress of a number of resources.
func (l *live) begin(verb string, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p, l.tasks = progressState{Verb: verb, Since: l.now(), Total: total}, map[string]*task{}
}

// frame returns the lines that show the progress.
func (l *live) frame(now time.Time, width, height int) []string {
	l.mu.Lock()
	p := l.p
	p.Note = l.note
	for _, t := range l.tasks {
		p.Tasks = append(p.Tasks, *t)
	}
	l.mu.Unlock()
	slices.SortFunc(p.Tasks, func(a, b task) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Address, b.Address))
	})
	p.Total = max(p.Total, p.Done+len(p.Tasks))
	return frameOf(p, now, width, height)
}

// total returns the number of resources.
func (l *live) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.p.Total
}

// setNote changes the line that belongs to no resource: pulls.
func (l *live) setNote(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note = text
}

// start records that a step of a resource runs now.
func (l *live) start(addr, step string) {
	l.tasks[addr] = &task{Address: addr, Step: step, Since: l.now()}
}

// stop records that a resource is done.
func (l *live) stop(addr string, failed bool) {
	delete(l.tasks, addr)
	if l.p.Done++; failed {
		l.p.Failed++
	}
}

// Line records the last line that a task printed.
func (l *live) Line(line typeclient.Line) {
	text := l.hide(line.Text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tasks[line.Address]; t != nil {
		t.Last = text
	}
}

// Waiting records why a task has not begun yet; a task that has begun waits for nothing.
func (l *live) Waiting(w typeclient.Waiting) {
	reason := l.hide(w.Reason)
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tasks[w.Address]; t != nil {
		t.On, t.Reason = w.Host, reason
	}
}

// Planning implements watcher.
func (l *live) Planning(e plan.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := e.(type) {
	case plan.Asking:
		l.start(e.Address, "state")
	case plan.Decided:
		l.stop(e.Address, false)
	case plan.Failed:
		l.stop(e.Address, true)
	}
}

// Applying implements watcher. It does not count resources without actions: they would
// hide how far the others are.
func (l *live) Applying(e apply.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := e.(type) {
	case apply.Checking:
		l.start(e.Address, "state")
	case apply.ActionStarted:
		l.start(e.Address, e.Action)
	case apply.ActionEnded:
		delete(l.tasks, e.Address)
	case apply.ResourceEnded:
		if e.Report.Failed == apply.FailedSoak { // it was done before
			l.p.Failed++
			return
		}
		if e.Change == plan.Valid && e.Report.Status == apply.Unchanged {
			delete(l.tasks, e.Address)
			return
		}
		l.stop(e.Address, e.Report.Status == apply.Error || e.Report.Status == apply.Unknown)
	case apply.Stopping:
		l.p.Stopping = l.p.Stopping || e.Where == ""
	}
}
