package terminal

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/plan"
)

// progress prints on stderr what happens.
type progress struct {
	Printer
	live *live // shows running tasks itself; nil = there is no terminal for it

	total func() int // returns the number of resources
}

// Line prints a line of an image, after the name of its resource. The output of init and
// state on stderr is for the user; so is the output of an action.
func (p progress) Line(l typeclient.Line) {
	p.Printf("%s %s\n", paint.Dim(fmt.Sprintf("%s %s |", diag.Visible(l.Address), diag.Visible(l.Step))), p.Hide(l.Text))
}

// Waiting prints why a step has not begun yet, where no live display shows it.
func (p progress) Waiting(w typeclient.Waiting) {
	if w.Reason != "" && p.live == nil {
		p.Printf("%s: %s is waiting on %s: %s\n", w.Address, diag.Visible(w.Step), diag.Visible(w.Host), w.Reason)
	}
}

// Planning prints the events of a plan, if output is verbose.
func (p progress) Planning(e plan.Event) {
	if !p.Verbose {
		return
	}
	switch e := e.(type) {
	case plan.Asking:
		p.Printf("%s: reading its state\n", e.Address)
	case plan.Decided:
		p.Printf("%s: %s\n", e.Address, e.Change)
	}
}

// Applying prints the events of an apply.
func (p progress) Applying(e apply.Event) {
	switch e := e.(type) {
	case apply.Checking:
		if p.Verbose {
			p.Printf("%s: reading its state\n", e.Address)
		}
	case apply.ActionStarted:
		if e.Together > 1 && !p.Verbose {
			if e.Leads { // one line for all of them
				p.Printf("%s (%s): %s\n", kindOf(e), words.Count(e.Together, "resource"), diag.Visible(e.Action))
			}
			return
		}
		if !p.tellsActions() {
			return
		}
		p.Printf("%s: %s ...\n", e.Address, describe(e))
	case apply.ActionEnded:
		if e.Err == nil {
			if p.tellsActions() {
				p.Printf("%s: %s done in %s\n", e.Address, diag.Visible(e.Action), render.Took(e.Took))
			}
		} else {
			p.Printf("%s: %s %s after %s\n", e.Address, diag.Visible(e.Action), paint.Red("failed"), render.Took(e.Took))
		}
	case apply.Retrying:
		p.Printf("%s: attempt %d of %d in %s\n", e.Address, e.Attempt, e.Of, e.Pause)
	case apply.ResourceEnded:
		p.ended(e)
	case apply.Settling:
		p.Printf("%s.\n", e)
	case apply.WaveSoaking:
		p.Printf("Wave %d (%s): waiting %s.\n", e.Number, words.List(e.Hosts, 10), e.Soak)
	case apply.WaveEnded:
		p.Printf("%s.\n", e)
	case apply.Stopping:
		why := "Something failed"
		if e.Interrupted {
			why = "Interrupted"
		}
		if e.Where != "" {
			p.Printf("%s on %s: nothing new is started there.\n", why, diag.Visible(e.Where))
			return
		}
		if e.Running == 0 {
			p.Printf("%s: nothing new is started.\n", why)
		} else {
			p.Printf("%s: nothing new is started. Waiting for what runs, %d at the moment.%s\n", why, e.Running, again(e.Interrupted))
		}
	}
}

// manyResources is the number of resources above which a user without a terminal gets
// only one line for each: its result.
const manyResources = 500

// tellsActions reports whether actions get lines of their own: on a terminal the live display shows them.
func (p progress) tellsActions() bool {
	return p.Verbose || p.live == nil && p.total() <= manyResources
}

// quietAbove is the number of resources above which a terminal does not show each
// success: it shows their number, and all of them at the end.
const quietAbove = 50

// ended prints the last line of a resource.
func (p progress) ended(e apply.ResourceEnded) {
	quiet := p.live != nil && !p.Verbose && p.live.total() > quietAbove
	name, took := paint.Bold(diag.Visible(e.Address)), paint.Dim("("+render.Took(e.Took)+")")
	switch e.Report.Status {
	case apply.OK:
		if !quiet {
			p.Printf("%s: %s %s\n", name, paint.Green(render.Past(cmp.Or(e.Report.Became, e.Change))), took)
		}
	case apply.Skipped:
		if !quiet {
			p.Printf("%s: unchanged, nothing was run %s\n", name, took)
		}
	case apply.Error:
		p.Printf("%s: %s (%s) %s\n", name, paint.Red("failed"), diag.Visible(e.Report.Failed), took)
	case apply.Interrupted:
		p.Printf("%s: %s %s\n", name, paint.Yellow("interrupted"), took)
	case apply.Unknown:
		p.Printf("%s: %s (%s) %s\n", name, paint.Red("how it ended is unknown"), diag.Visible(e.Report.Failed), took)
	}
}

// kindOf names the objects of a batch: linux/package and acme/machine#package are package, and
// acme/shelf:1 is shelf.
func kindOf(e apply.ActionStarted) string {
	name := path.Base(e.Kind)
	if _, kind, ok := strings.Cut(name, "#"); ok {
		name = kind
	}
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return diag.Visible(name)
}

func describe(e apply.ActionStarted) string {
	text := diag.Visible(e.Action)
	if e.Description != "" {
		text += " - " + diag.Visible(e.Description)
	}
	switch {
	case e.Together > 1:
		text += " (together with " + words.Count(e.Together-1, "other resource") + ")"
	case e.Late:
		text += " (first of its own actions, which was not foreseen)"
	case e.First:
		text += " (before everything else)"
	}
	return text
}

func again(interrupted bool) string {
	if interrupted {
		return " Interrupt again to end it."
	}
	return ""
}
