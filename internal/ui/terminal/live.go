package terminal

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/runner/typeclient"
	"deployster/internal/ui/render"
	"deployster/plan"
)

// live is the picture of what is going on that a terminal shows below the text.
type live struct {
	hide func(string) string
	now  func() time.Time

	mu    sync.Mutex
	p     render.Progress
	tasks map[string]*render.Task // by address
	note  string
}

func newLive(hide func(string) string) *live {
	return &live{hide: hide, now: time.Now, tasks: map[string]*render.Task{}}
}

// begin starts a new picture: of so many resources.
func (l *live) begin(verb string, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p, l.tasks = render.Progress{Verb: verb, Since: l.now(), Total: total}, map[string]*render.Task{}
}

// frame draws it.
func (l *live) frame(now time.Time, width, height int) []string {
	l.mu.Lock()
	p := l.p
	p.Note = l.note
	for _, t := range l.tasks {
		p.Tasks = append(p.Tasks, *t)
	}
	l.mu.Unlock()
	slices.SortFunc(p.Tasks, func(a, b render.Task) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Address, b.Address))
	})
	p.Total = max(p.Total, p.Done+len(p.Tasks))
	return render.Frame(p, now, width, height)
}

// total is of how many resources the picture is.
func (l *live) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.p.Total
}

// setNote changes the line about what is not a resource's: pulls.
func (l *live) setNote(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note = text
}

// start says that something runs now for a resource.
func (l *live) start(addr, step string) {
	l.tasks[addr] = &render.Task{Address: addr, Step: step, Since: l.now()}
}

// stop says that nothing runs for a resource any more, as it is done with.
func (l *live) stop(addr string, failed bool) {
	delete(l.tasks, addr)
	if l.p.Done++; failed {
		l.p.Failed++
	}
}

// Line notes the last line of what runs.
func (l *live) Line(line typeclient.Line) {
	text := l.hide(line.Text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tasks[line.Address]; t != nil {
		t.Last = text
	}
}

// Planning learns from the events of a plan.
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

// Applying learns from the events of an apply. What has nothing to be done is
// not counted: it would hide how far the rest is.
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
		if e.Change == plan.Valid && e.Report.Status == apply.Unchanged {
			delete(l.tasks, e.Address)
			return
		}
		l.stop(e.Address, e.Report.Status == apply.Error || e.Report.Status == apply.Unknown)
	case apply.Stopping:
		l.p.Stopping = l.p.Stopping || e.Where == ""
	}
}
