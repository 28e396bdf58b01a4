package render

import (
	"fmt"
	"slices"
	"time"

	"deployster/internal/app/runs"
	"deployster/internal/base/diag"
)

// RunTook returns how long a run took.
func RunTook(r runs.Run) string {
	if r.Ended == nil {
		return "-"
	}
	return Took(r.Ended.Sub(r.Started))
}

// Began returns when a step began, relative to the beginning of its run: a step that
// another run started began before it.
func Began(run runs.Run, step runs.Step) string {
	after := step.Started.Sub(run.Started)
	if after < 0 {
		return Took(-after) + " before"
	}
	return "+" + Took(after)
}

// Steps returns a table of the steps of a run, with a column for hosts if any step ran on one.
func Steps(run runs.Run, steps []runs.Step) [][]string {
	head := []string{"RESOURCE", "STEP", "BEGAN", "TOOK", "EXIT"}
	hosts := slices.ContainsFunc(steps, func(s runs.Step) bool { return s.Host != "" })
	if hosts {
		head = slices.Insert(head, 1, "HOST")
	}
	rows := [][]string{head}
	for _, s := range steps {
		row := []string{s.Resource, s.Step, Began(run, s), StepTook(s), StepEnd(s)}
		if hosts {
			row = slices.Insert(row, 1, s.Host)
		}
		rows = append(rows, row)
	}
	return rows
}

// StepHost returns "on HOST, "; "" = it ran on this machine.
func StepHost(s runs.Step) string {
	if s.Host == "" {
		return ""
	}
	return diag.Visible("on " + s.Host + ", ")
}

// Ending describes how a run ended.
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
