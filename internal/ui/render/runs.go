package render

import (
	"fmt"
	"time"

	"deployster/internal/runs"
)

// RunTook returns how long a run took.
func RunTook(r runs.Run) string {
	if r.Ended == nil {
		return "-"
	}
	return Took(r.Ended.Sub(r.Started))
}

// Began says when a step began, from the beginning of its run: what another run
// had started began before.
func Began(run runs.Run, step runs.Step) string {
	after := step.Started.Sub(run.Started)
	if after < 0 {
		return Took(-after) + " before"
	}
	return "+" + Took(after)
}

// Ending says how a run ended.
func Ending(r runs.Run) string {
	switch {
	case r.Status == runs.Running:
		return "still at work"
	case r.Ended == nil || r.ExitCode == nil:
		return string(r.Status)
	}
	return fmt.Sprintf("%s, exit code %d after %s", r.Status, *r.ExitCode, RunTook(r))
}

// StepTook returns how long a step took.
func StepTook(s runs.Step) string { return Took(time.Duration(s.Took * float64(time.Second))) }

// StepEnd returns the exit code of a step, or why it has none.
func StepEnd(s runs.Step) string {
	if s.ExitCode == nil {
		return s.Problem
	}
	return fmt.Sprint(*s.ExitCode)
}
