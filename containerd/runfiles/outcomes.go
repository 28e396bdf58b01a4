package runfiles

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/runner"
)

// Outcomes wait for whoever adopts their actions, but not for ever: a project
// may have been deleted.
const (
	outcomeAge  = 30 * 24 * time.Hour
	maxOutcomes = 1000
)

// Outcomes is a directory of what became of actions whose clients were dead
// when they ended: a file for each, by the action's name. Their containers are
// gone.
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

// Load returns the outcome of an action, if it is there.
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

// Remove forgets the outcome of an action.
func (o Outcomes) Remove(action string) error {
	if err := os.Remove(o.path(action)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// pruned is a file that is written when an outcome is removed that nobody has come for.
const pruned = ".pruned"

// Pruned is when an outcome was removed that nobody had come for; zero = never.
func (o Outcomes) Pruned() time.Time {
	i, err := os.Lstat(filepath.Join(string(o), pruned))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return time.Now() // it may have been just now
	}
	if err != nil {
		return time.Time{}
	}
	return i.ModTime()
}

// Prune removes the outcomes that nobody has come for: the old ones, and the
// oldest of too many.
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
		if i, err := e.Info(); err == nil { // else it is just being removed
			files = append(files, file{e.Name(), i.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	var errs []error
	for i, f := range files {
		if i >= maxOutcomes || time.Since(f.at) > outcomeAge {
			if err := os.WriteFile(filepath.Join(string(o), pruned), nil, 0o600); err != nil {
				return err // else one that is gone would look as if it had never been
			}
			errs = append(errs, os.Remove(filepath.Join(string(o), f.name)))
		}
	}
	return errors.Join(errs...)
}
