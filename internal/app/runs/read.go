package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
)

// NotFoundError reports that no run has the name, or that the names of several runs start with it.
type NotFoundError struct {
	Name  string
	Fits  []string // the runs whose names start with Name
	There []string // all runs, newest first
}

func (e *NotFoundError) Error() string { return "there is no run " + e.Name }

// List returns all runs, newest first.
func List(workdir string) ([]Run, error) {
	dir := Dir(workdir)
	list, err := names(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	found := make([]Run, len(list))
	for i, name := range list {
		found[i] = findRun(filepath.Join(dir, name))
	}
	return found, nil
}

// findRun reads a run, and checks whether it is in progress.
func findRun(path string) Run {
	run := readRun(path)
	if run.Ended == nil && isRunning(path) {
		run.Status = Running
	}
	return run
}

// Find returns one run: the newest for "" or "latest", else the one whose name is or
// begins with the given name.
func Find(workdir, name string) (Run, error) {
	dir := Dir(workdir)
	list, err := names(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Run{}, err
	}
	if (name == "" || name == latestName) && len(list) > 0 {
		if target, err := os.Readlink(filepath.Join(dir, latestName)); err == nil && slices.Contains(list, target) {
			return findRun(filepath.Join(dir, target)), nil
		}
		return findRun(filepath.Join(dir, list[0])), nil
	}
	var fits []string
	for _, there := range list {
		if there == name {
			fits = []string{there}
			break
		}
		if name != "" && strings.HasPrefix(there, name) {
			fits = append(fits, there)
		}
	}
	if len(fits) != 1 {
		return Run{}, &NotFoundError{Name: name, Fits: fits, There: list}
	}
	return findRun(filepath.Join(dir, fits[0])), nil
}

// Path returns the directory of the run.
func (r Run) Path() string { return r.dir }

// Steps returns the recorded invocations of a run in the order in which they began:
// those of one resource, or all for "".
func (r Run) Steps(resource string) ([]Step, error) {
	pattern := "*"
	if resource != "" {
		pattern = durable.Pattern(fileName(resource))
	}
	metas, err := filepath.Glob(filepath.Join(durable.Pattern(r.dir), pattern, "*", metaName))
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, path := range metas {
		content, err := readFile(r.keys, path)
		if err != nil {
			return nil, err
		}
		step := Step{dir: filepath.Dir(path), keys: r.keys}
		if err := json.Unmarshal(content, &step); err != nil {
			continue // a crash has truncated the file
		}
		steps = append(steps, step)
	}
	more, err := r.lineSteps(resource)
	if err != nil {
		return nil, err
	}
	steps = append(steps, more...)
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.dir, b.dir))
	})
	// A crash in writePending leaves both the lines and the files.
	return slices.CompactFunc(steps, func(a, b Step) bool {
		return a.Started.Equal(b.Started) && a.Resource == b.Resource && a.Step == b.Step
	}), nil
}

// Path returns the directory of the step's files, or the file that has its line.
func (s Step) Path() string { return s.dir }

// Read returns the input or output of a step: name is Stdin, Stdout or Stderr.
func (s Step) Read(name string) ([]byte, error) {
	if s.line != nil {
		return []byte(s.line.text(name)), nil
	}
	return readFile(s.keys, filepath.Join(s.dir, name))
}

// readFile reads a file of the records, encrypted or not.
func readFile(keys *encryption.Keyring, path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return keys.Open(encryption.Record, path, content)
}

// Report reads the run's report; nil when it has none.
func (r Run) Report() ([]byte, error) {
	content, err := readFile(r.keys, filepath.Join(r.dir, reportName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// Events reads the run's events, one JSON object a line; nil when it has none.
func (r Run) Events() ([]byte, error) {
	path := filepath.Join(r.dir, eventsName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.keys.OpenLines(encryption.Record, path, content)
}
