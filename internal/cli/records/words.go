package records

import (
	"fmt"
	"slices"
	"time"

	"deployster/internal/app/runs"
	"deployster/internal/base/diag"
	"deployster/internal/ui/render"
)

// runTook returns how long a run took.
func runTook(r runs.Run) string {
	if r.Ended == nil {
		return "-"
	}
	return render.Took(r.Ended.Sub(r.Started))
}

// began returns when a step began, relative to the beginning of its run: a step that
// another run started began before it.
func began(run runs.Run, step runs.Step) string {
	after := step.Started.Sub(run.Started)
	if after < 0 {
		return render.Took(-after) + " before"
	}
	return "+" + render.Took(after)
}

// stepTable returns a table of the steps of a run, with a column for hosts if any step ran on one.
func stepTable(run runs.Run, steps []runs.Step) [][]string {
	head := []string{"RESOURCE", "STEP", "BEGAN", "TOOK", "EXIT"}
	hosts := slices.ContainsFunc(steps, func(s runs.Step) bool { return s.Host != "" })
	if hosts {
		head = slices.Insert(head, 1, "HOST")
	}
	rows := [][]string{head}
	for _, s := range steps {
		row := []string{s.Resource, s.Step, began(run, s), stepTook(s), stepEnd(s)}
		if hosts {
			row = slices.Insert(row, 1, s.Host)
		}
		rows = append(rows, row)
	}
	return rows
}

// stepHost returns "on HOST, "; "" = it ran on this machine.
func stepHost(s runs.Step) string {
	if s.Host == "" {
		return ""
	}
	return diag.Visible("on " + s.Host + ", ")
}

// ending describes how a run ended.
func ending(r runs.Run) string {
	switch {
	case r.Status == runs.Running:
		return "still at work"
	case r.Ended == nil || r.ExitCode == nil:
		return string(r.Status)
	}
	return fmt.Sprintf("%s, exit code %d after %s", r.Status, *r.ExitCode, runTook(r))
}

// stepTook returns how long a step took.
func stepTook(s runs.Step) string { return render.Took(time.Duration(s.Took * float64(time.Second))) }

// stepEnd returns the exit code of a step, or why it has none.
func stepEnd(s runs.Step) string {
	if s.ExitCode == nil {
		return s.Problem
	}
	return fmt.Sprint(*s.ExitCode)
}
