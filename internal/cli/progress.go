package cli

import (
	"fmt"
	"time"

	"deployster/apply"
	"deployster/internal/diag"
	"deployster/internal/typeclient"
	"deployster/plan"
)

// progress tells on stderr what is going on.
type progress struct {
	printer
	hide func(string) string
}

func (s *session) progress() progress {
	return progress{printer: s.err, hide: s.vault.hide}
}

// line shows what an image prints, under its resource's name. What init and
// state say on stderr is meant for the user; what an action prints is too.
func (p progress) line(l typeclient.Line) {
	p.printf("%s %s\n", p.style.dim(fmt.Sprintf("%s %s |", diag.Visible(l.Address), diag.Visible(l.Step))), p.hide(l.Text))
}

// planning shows the events of a plan, for those who want to see them.
func (p progress) planning(e plan.Event) {
	if !p.verbose {
		return
	}
	switch e := e.(type) {
	case plan.Asking:
		p.printf("%s: asking for its state\n", e.Address)
	case plan.Decided:
		p.printf("%s: %s\n", e.Address, e.Change)
	}
}

// applying shows the events of an apply.
func (p progress) applying(e apply.Event) {
	switch e := e.(type) {
	case apply.Checking:
		if p.verbose {
			p.printf("%s: asking for its state\n", e.Address)
		}
	case apply.ActionStarted:
		p.printf("%s: %s ...\n", e.Address, describe(e))
	case apply.ActionEnded:
		if e.Err == nil {
			p.printf("%s: %s done in %s\n", e.Address, diag.Visible(e.Action), short(e.Took))
		} else {
			p.printf("%s: %s %s after %s\n", e.Address, diag.Visible(e.Action), p.style.red("failed"), short(e.Took))
		}
	case apply.ResourceEnded:
		p.ended(e)
	case apply.Stopping:
		why := "Something failed"
		if e.Interrupted {
			why = "Interrupted"
		}
		if e.Running == 0 {
			p.printf("%s: nothing new is started.\n", why)
		} else {
			p.printf("%s: nothing new is started. Waiting for what runs, %d at the moment.%s\n", why, e.Running, again(e.Interrupted))
		}
	}
}

// ended is the last line about a resource.
func (p progress) ended(e apply.ResourceEnded) {
	switch e.Report.Status {
	case apply.OK:
		p.printf("%s: %s\n", p.style.bold(e.Address), p.style.green(past(e.Change)))
	case apply.Skipped:
		p.printf("%s: as declared already, nothing was run\n", p.style.bold(e.Address))
	case apply.Error:
		p.printf("%s: %s (%s)\n", p.style.bold(e.Address), p.style.red("failed"), e.Report.Failed)
	case apply.Interrupted:
		p.printf("%s: %s\n", p.style.bold(e.Address), p.style.yellow("interrupted"))
	case apply.Unknown:
		p.printf("%s: %s (%s)\n", p.style.bold(e.Address), p.style.red("how it ended is unknown"), diag.Visible(e.Report.Failed))
	}
}

func describe(e apply.ActionStarted) string {
	if e.Description == "" {
		return diag.Visible(e.Action)
	}
	return diag.Visible(e.Action) + " - " + diag.Visible(e.Description)
}

func past(c plan.Change) string {
	switch c {
	case plan.Create:
		return "created"
	case plan.Destroy:
		return "destroyed"
	case plan.Forget:
		return "forgotten"
	case plan.Deferred:
		return "done"
	}
	return "updated"
}

func again(interrupted bool) string {
	if interrupted {
		return " Interrupt again to end it."
	}
	return ""
}

// short rounds a duration for people.
func short(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
