package runfiles

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/runtime/runner"
)

// Outcomes are kept for the client that adopts their actions, but not indefinitely: a project
// may have been deleted.
const (
	outcomeAge  = 30 * 24 * time.Hour
	maxOutcomes = 1000
)

// Outcomes is a directory of the outcomes of actions whose clients were dead when they
// ended: a file for each, by the action's name. Their containers no longer exist.
type Outcomes string

func (o Outcomes) path(action string) string { return filepath.Join(string(o), action+".json") }

// Save makes the outcome of an action durable.
func (o Outcomes) Save(action string, k runner.Outcome) error {
	if err := os.MkdirAll(string(o), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return durable.WriteFile(o.path(action), b, 0o600)
}

// Load returns the outcome of an action, if it exists.
func (o Outcomes) Load(action string) (out runner.Outcome, ok bool, err error) {
	b, err := os.ReadFile(o.path(action))
	if errors.Is(err, os.ErrNotExist) {
		return out, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err == nil, err
}

// Remove removes the outcome of an action.
func (o Outcomes) Remove(action string) error {
	if err := os.Remove(o.path(action)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// pruned is a file that is written when Prune removes an outcome.
const pruned = ".pruned"

// Pruned returns when Prune last removed an outcome; zero = never.
func (o Outcomes) Pruned() time.Time {
	i, err := os.Lstat(filepath.Join(string(o), pruned))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return time.Now() // unknown: it may have been just now
	}
	if err != nil {
		return time.Time{}
	}
	return i.ModTime()
}

// Prune removes outcomes that no client has fetched: the old ones, and the oldest if
// there are too many.
func (o Outcomes) Prune() error {
	entries, err := os.ReadDir(string(o))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if e.Name() == pruned {
			continue
		}
		if i, err := e.Info(); err == nil { // otherwise it is just being removed
			files = append(files, file{e.Name(), i.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	var errs []error
	for i, f := range files {
		if i >= maxOutcomes || time.Since(f.at) > outcomeAge {
			if err := os.WriteFile(filepath.Join(string(o), pruned), nil, 0o600); err != nil {
				return err // otherwise a removed outcome would appear as if it had never existed
			}
			errs = append(errs, os.Remove(filepath.Join(string(o), f.name)))
		}
	}
	return errors.Join(errs...)
}
