package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/app/runs"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

// RunsDocument is what `runs list -json` prints.
type RunsDocument struct {
	Format int        `json:"format"`
	Runs   []runs.Run `json:"runs"` // the newest first
}

// RunDocument is what `runs show -json` prints.
type RunDocument struct {
	Format int           `json:"format"`
	Run    runs.Run      `json:"run"`
	Steps  []runs.Step   `json:"steps"`            // in the order in which they began
	Report *apply.Report `json:"report,omitempty"` // of an apply
}

// LogsDocument is what `runs logs -json` prints.
type LogsDocument struct {
	Format int         `json:"format"`
	Run    string      `json:"run"`
	Logs   []LoggedRun `json:"logs"`
}

// LoggedRun is what one run of an image was sent, and what it printed.
type LoggedRun struct {
	runs.Step
	Stdin  string `json:"stdin"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// FindRun finds a run by its name; "" = the latest.
func (w *Workspace) FindRun(name string) (runs.Run, error) {
	w.UseKeys()
	run, err := runs.Find(w.Dir, name)
	var missing *runs.NotFoundError
	switch {
	case !errors.As(err, &missing):
		return run.WithKeys(w.Keys), err
	case len(missing.There) == 0:
		return run, diag.Errorf("No records", "There are no records of runs in %s. plan, apply and destroy write them.", runs.Dir(w.Dir))
	case len(missing.Fits) > 1:
		return run, diag.Errorf("Which run?", "The names of %d runs begin with %q: %s.", len(missing.Fits), name,
			strings.Join(missing.Fits, ", "))
	}
	return run, diag.Errorf("No such run", "There is no record of a run %q.%s `deployster runs list` lists the %d that are kept; "+
		"`latest` names the last one.",
		name, words.DidYouMean(name, append(slices.Clone(missing.There), "latest")), len(missing.There))
}

// ReportOf reads the report of a run; nil = it has none.
func ReportOf(run runs.Run) (*apply.Report, error) {
	content, err := run.Report()
	if err != nil || content == nil {
		return nil, err
	}
	var report apply.Report
	if err := json.Unmarshal(content, &report); err != nil {
		return nil, diag.Errorf("Cannot read the records", "%s: the report is damaged: %s.", run.Path(), err)
	}
	return &report, nil
}

// LogsOf reads the records of a resource: of all its steps, or of one.
func LogsOf(run runs.Run, address, step string) ([]LoggedRun, error) {
	resource, err := config.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	steps, err := run.Steps(resource)
	if err != nil {
		return nil, diag.Errorf("Cannot read the records", "%s.", err)
	}
	if len(steps) == 0 {
		return nil, noLogs(run, resource)
	}
	var names []string
	var found []LoggedRun
	for _, one := range steps {
		if names = append(names, one.Step); step != "" && one.Step != step {
			continue
		}
		l := LoggedRun{Step: one}
		for name, into := range map[string]*string{runs.Stdin: &l.Stdin, runs.Stdout: &l.Stdout, runs.Stderr: &l.Stderr} {
			content, err := one.Read(name)
			if name == runs.Stdin && errors.Is(err, fs.ErrNotExist) {
				continue // an earlier run started this action, and has its input
			}
			if err != nil {
				return nil, diag.Errorf("Cannot read the records", "%s.", err)
			}
			*into = string(content)
		}
		found = append(found, l)
	}
	if len(found) == 0 {
		names = slices.Compact(slices.Sorted(slices.Values(names)))
		return nil, diag.Errorf("No such step", "The run %s has no step %q of %s.%s Its steps: %s.", run.ID, step, resource,
			words.DidYouMean(step, names), strings.Join(names, ", "))
	}
	return found, nil
}

// noLogs is the error about a run that has no record of a resource: it names those that it has.
func noLogs(run runs.Run, resource string) error {
	steps, err := run.Steps("")
	if err != nil {
		return diag.Errorf("Cannot read the records", "%s.", err)
	}
	var names []string
	for _, step := range steps {
		names = append(names, step.Resource)
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if run.LeftOut > 0 {
		return diag.Errorf("No record of the resource", "The run %s has no record of %q. %d valid states were not recorded.", run.ID,
			resource, run.LeftOut)
	}
	return diag.Errorf("No record of the resource", "The run %s (%s) ran no image for %q.%s There are records of: %s.",
		run.ID, run.Command, resource, words.DidYouMean(resource, names), words.List(names, 20))
}
