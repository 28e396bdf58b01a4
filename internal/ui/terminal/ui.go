package terminal

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/explain"
	"deployster/state"
)

// Options are the inputs and outputs of a UI.
type Options struct {
	Stdin           io.Reader
	Stdout, Stderr  io.Writer
	Hide            func(string) string // hides secrets in all output
	Color, ErrColor bool                // print colours on stdout, on stderr
	OneTerminal     bool                // stdout is a terminal, most likely the same as stderr
	Size            func() (width, height int)
	Events          bool // stdout has events for programs: errors are shown only as events
	Verbose         bool
	Compact         bool
}

// UI shows on stderr what happens, and shows questions there. It is safe for concurrent
// use.
type UI struct {
	Out, Err Printer // Out is for results, Err for everything else

	stdin  io.Reader
	stderr io.Writer
	events bool
	screen *screen
	live   *live
	pulls  *pullView
	took   stopwatch
	start  sync.Once
	beat   *heartbeat // nil = there is a terminal, or nothing has been shown
	all    watchers
}

// New returns a UI. If o.Size is nil, there is no terminal to draw on.
func New(o Options) *UI {
	s := &screen{w: o.Stderr, size: o.Size, colors: o.ErrColor}
	u := &UI{stdin: o.Stdin, stderr: o.Stderr, events: o.Events, screen: s, live: newLive(o.Hide),
		Out: Printer{Out: o.Stdout, Hide: o.Hide, Color: o.Color, Verbose: o.Verbose, Compact: o.Compact,
			Whole: !o.OneTerminal},
		Err: Printer{Out: s, Hide: o.Hide, Color: o.ErrColor, Verbose: o.Verbose}}
	if o.Events {
		u.Out.Out = io.Discard
	}
	u.pulls = newPullView(u.Err, nil)
	if s.size == nil {
		return u
	}
	u.pulls = newPullView(u.Err, func(text string) {
		u.live.setNote(text)
		s.begin(u.live.frame) // until Close, if nothing else is drawn
	})
	u.Err.Width = s.width
	if o.OneTerminal {
		u.Out.Out, u.Out.Width = s.also(u.Out.Out), s.width
	}
	return u
}

// Close removes what is drawn on the terminal.
func (u *UI) Close() {
	u.screen.end()
	if u.beat != nil {
		u.beat.stop()
	}
}

// Begin shows the progress of a number of resources, until end is called.
func (u *UI) Begin(verb string, total int) (end func()) {
	if u.events {
		return func() {}
	}
	u.live.begin(verb, total)
	u.screen.begin(u.live.frame)
	return func() {
		u.screen.end()
		u.live.begin("", 0)
	}
}

// Status shows a line at the bottom of the terminal, until end is called.
func (u *UI) Status(line func() string) (end func()) {
	if u.events {
		return func() {}
	}
	u.screen.end() // a pull may have left its region
	u.screen.begin(func(_ time.Time, width, _ int) []string { return []string{paint.Dim(paint.Fit(line(), width-1))} })
	return u.screen.end
}

// watchers returns the watchers of this UI.
func (u *UI) watchers() watchers {
	u.start.Do(func() {
		u.all = watchers{&u.took}
		switch {
		case u.events:
		case u.screen.size != nil:
			u.all = append(u.all, u.live, progress{Printer: u.Err, live: u.live, total: u.live.total})
		default:
			u.beat = startHeartbeat(heartbeatEvery, func(line string) { u.Err.Printf("%s\n", paint.Dim(line)) })
			u.all = append(u.all, u.beat, progress{Printer: u.Err, total: u.live.total})
		}
	})
	return u.all
}

// Planning shows an event of planning.
func (u *UI) Planning(e plan.Event) { u.watchers().Planning(e) }

// Applying shows an event of an apply.
func (u *UI) Applying(e apply.Event) { u.watchers().Applying(e) }

// Line shows a line that an image printed.
func (u *UI) Line(l typeclient.Line) { u.watchers().Line(l) }

// Waiting shows why a step has not begun yet.
func (u *UI) Waiting(w typeclient.Waiting) { u.watchers().Waiting(w) }

// Pulling shows the progress of the pull of an image.
func (u *UI) Pulling(p imagestore.Progress) {
	if !u.events {
		u.pulls.progress(p)
	}
}

// Printf prints for people what programs learn from an event.
func (u *UI) Printf(format string, args ...any) {
	if !u.events {
		u.Err.Printf(format, args...)
	}
}

// Diagnostics shows errors and warnings.
func (u *UI) Diagnostics(list diag.Diagnostics) {
	if !u.events {
		u.Err.Diagnostics(list)
	}
}

// Plan shows a plan.
func (u *UI) Plan(p *plan.Plan) { u.Out.Plan(p) }

// Explain shows the causes of the changes of some resources of a plan.
func (u *UI) Explain(p *plan.Plan, list []*explain.Explanation) {
	for _, e := range list {
		u.Out.Printf("%s", render.Explain(e, u.Out.Options()))
	}
	u.Out.Printf("%s\n", render.Summary(p))
}

// Report shows the report of an apply; recorded is the state afterwards, nil if its outputs
// were not recorded. The last line of an apply that did not end well reports it.
func (u *UI) Report(p *plan.Plan, r *apply.Report, recorded *state.Snapshot) {
	if r.Status == apply.OK {
		u.Out.Report(p, r, u.took.all())
	}
	u.Out.Checks(r.Checks)
	if recorded != nil {
		u.Out.Outputs(*recorded)
	}
	if r.Status != apply.OK {
		u.Out.Report(p, r, u.took.all())
	}
}

// AskVariable prompts for the value of a variable.
func (u *UI) AskVariable(ctx context.Context, v config.Missing) (string, error) {
	u.Err.Printf("%s", paint.Bold("var."+v.Name))
	if v.Type != "" {
		u.Err.Printf(" %s", paint.Dim("("+v.Type+")"))
	}
	u.Err.Printf("\n")
	if v.Description != "" {
		u.Err.Printf("  %s\n", strings.ReplaceAll(v.Description, "\n", "\n  "))
	}
	label := "  Value: "
	if v.Sensitive {
		show, err := hideInput(u.stdin)
		if err != nil {
			return "", err
		}
		defer show()
		label = "  Value (not shown): "
	}
	u.Err.Printf("%s", label)
	text, err := readAnswer(ctx, u.stdin)
	if v.Sensitive || err != nil {
		u.Err.Printf("\n") // the terminal did not show the user's newline
	}
	return text, err
}
