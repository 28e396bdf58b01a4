package events

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/verdict"
)

// newEvent returns an event without a run, for a stream of one run.
func newEvent(level Level, message string, body Body) Event {
	return Event{Level: level, Message: message, Body: body}
}

// OfPlan converts an event of planning.
func OfPlan(e plan.Event) Event {
	switch e := e.(type) {
	case plan.Asking:
		return newEvent(Debug, e.Address+": reading its state", ResourceAsking{e.Address, ToPlan})
	case plan.Decided:
		return newEvent(Debug, e.Address+": "+string(e.Change), ResourceDecided{e.Address, apply.OK, e.Change})
	case plan.Failed:
		return newEvent(Debug, e.Address+": nothing can be decided", ResourceDecided{Resource: e.Address, Status: apply.Error})
	}
	return ofUnknown(e)
}

// OfApply converts an event of an apply.
func OfApply(e apply.Event) Event {
	switch e := e.(type) {
	case apply.Checking:
		purpose := BeforeActs
		if e.After {
			purpose = AfterActs
		}
		return newEvent(Debug, e.Address+": reading its state", ResourceAsking{e.Address, purpose})
	case apply.ActionStarted:
		return newEvent(Info, strings.TrimSuffix(fmt.Sprintf("%s: %s started: %s", e.Address, e.Action, e.Description), ": "),
			ActionStarted{e.Address, e.Action, e.Host, e.Pod, e.Description, e.First, e.Late, e.Together})
	case apply.ActionEnded:
		return actionEnded(e)
	case apply.Retrying:
		return newEvent(Warning, fmt.Sprintf("%s: %s. Attempt %d of %d in %s", e.Address, e.Reason, e.Attempt, e.Of, e.Pause),
			Retrying{e.Address, e.Attempt, e.Of, seconds(e.Pause), e.Reason})
	case apply.ResourceEnded:
		return resourceEnded(e)
	case apply.Stopping:
		why := "Something failed"
		if e.Interrupted {
			why = "Interrupted"
		}
		where := ""
		if e.Where != "" {
			where = " on " + e.Where
		}
		return newEvent(Warning, fmt.Sprintf("%s%s: nothing new is started%s, waiting for %d", why, where, where, e.Running),
			Stopping{e.Interrupted, e.Where, e.Running})
	case apply.Settling:
		return newEvent(Info, e.String(), Settling{e.Host, e.Resources, e.Keep})
	case apply.WaveSoaking:
		return newEvent(Info, fmt.Sprintf("Wave %d (%s): waiting %s", e.Number, words.List(e.Hosts, 10), e.Soak),
			WaveSoaking{e.Number, e.Hosts, seconds(e.Soak)})
	case apply.WaveEnded:
		return newEvent(levelOf(e.Wave.Status), e.String(), WaveEnded{e.Number, e.Wave.Hosts, e.Wave.Status, e.Wave.FailedGates, e.Closed})
	}
	return ofUnknown(e)
}

// ofUnknown converts an event that has no type of its own here.
func ofUnknown(e any) Event { return newEvent(Info, fmt.Sprintf("%T: %+v", e, e), Note{}) }

func actionEnded(e apply.ActionEnded) Event {
	body := ActionEnded{Resource: e.Address, Action: e.Action, Host: e.Host, Status: apply.OK, Took: seconds(e.Took)}
	if e.Err == nil {
		return newEvent(Info, fmt.Sprintf("%s: %s ended after %s", e.Address, e.Action, round(e.Took)), body)
	}
	body.Status, body.Reason = apply.Error, e.Err.Error()
	word := "failed"
	var unknown *runner.UnknownError
	if errors.As(e.Err, &unknown) {
		body.Status, word = apply.Unknown, "has an unknown outcome"
	}
	return newEvent(Error, fmt.Sprintf("%s: %s %s after %s", e.Address, e.Action, word, round(e.Took)), body)
}

// levelOf returns the level of an event about an apply, or a part of it, that ended so.
func levelOf(status apply.Status) Level {
	switch status {
	case apply.OK, apply.Skipped, apply.Unchanged, apply.Kept:
		return Info
	case apply.Interrupted, apply.Incomplete, apply.NotStarted, apply.Left:
		return Warning
	}
	return Error
}

func resourceEnded(e apply.ResourceEnded) Event {
	level := levelOf(e.Report.Status)
	message := fmt.Sprintf("%s: %s: %s", e.Address, e.Change, strings.ReplaceAll(string(e.Report.Status), "_", " "))
	return newEvent(level, message, ResourceEnded{Resource: e.Address, Change: e.Change, ResourceReport: e.Report, Took: seconds(e.Took)})
}

// OfLine returns the event of a line that an image printed.
func OfLine(l typeclient.Line) Event {
	return newEvent(Info, fmt.Sprintf("%s %s | %s", l.Address, l.Step, l.Text), Log{l.Address, l.Step, string(l.Stream), l.Text})
}

// OfWaiting returns the event of a step in a cluster that has not begun yet.
func OfWaiting(w typeclient.Waiting) Event {
	return newEvent(Info, fmt.Sprintf("%s: %s is waiting on %s: %s", w.Address, w.Step, w.Host, w.Reason),
		Waiting{w.Address, w.Host, w.Step, w.Reason, w.Since.UTC().Truncate(time.Millisecond)})
}

// OfDiagnostic returns the event of an error or a warning.
func OfDiagnostic(d *diag.Diagnostic) Event {
	level := Error
	if d.Severity == diag.Warning {
		level = Warning
	}
	return newEvent(level, strings.TrimSuffix(d.Summary+": "+d.Detail, ": "), Diagnostic{d})
}

// Notef returns an event with only a message.
func Notef(format string, args ...any) Event {
	return newEvent(Info, fmt.Sprintf(format, args...), Note{})
}

// OfEnd returns the last event.
func OfEnd(status apply.Status, exit int, took time.Duration) Event {
	message := map[apply.Status]string{apply.OK: "Done", apply.Error: "Failed", apply.Incomplete: "Incomplete",
		apply.Interrupted: "Interrupted"}[status]
	return newEvent(levelOf(status), fmt.Sprintf("%s after %s, exit code %d", message, round(took), exit), End{status, exit, seconds(took)})
}

// OfChecks returns the event with the results of the check blocks.
func OfChecks(list []config.CheckResult) Event {
	failed := 0
	for _, c := range list {
		if c.Status == config.CheckFail {
			failed++
		}
	}
	level := Info
	if failed > 0 {
		level = Warning
	}
	return newEvent(level, fmt.Sprintf("%d checks, %d failed", len(list), failed), Checks{list})
}

// OfPolicies returns the event with what policies found about a plan.
func OfPolicies(list []verdict.Policy) Event {
	level, denied := Info, len(verdict.Denied(list))
	if denied > 0 {
		level = Error
	}
	return newEvent(level, fmt.Sprintf("Policies: %d, and %d denied the plan", len(list), denied), Policies{list})
}

// OfReport returns the event with the report of an apply.
func OfReport(r *apply.Report) Event {
	return newEvent(levelOf(r.Status), "The apply ended: "+string(r.Status), Report{r})
}

// OfRepair returns the event of the end of a repair.
func OfRepair(resources []string, status apply.Status) Event {
	return newEvent(levelOf(status), "The repair ended: "+string(status),
		RepairEnded{Resources: append([]string{}, resources...), Status: status})
}

func ofDropped(count int) Event {
	return newEvent(Warning, fmt.Sprintf("%d events were dropped here: this reader was too slow", count),
		Dropped{count})
}

// round rounds a duration for people.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
