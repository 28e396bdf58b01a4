package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
)

// Holder is the client of a group.
type Holder struct {
	Lineage string `json:"lineage"`
	Epoch   int64  `json:"epoch"`
	Run     string `json:"run"`
	Process string `json:"process,omitempty"` // for people
}

// Record is what a host knows of a group. It has no inputs of actions: these may hold secrets.
type Record struct {
	runner.Group
	Holder  Holder   `json:"holder"`
	Boot    string   `json:"boot"` // of the machine, when it was armed
	Members []member `json:"members,omitempty"`
	Actions []action `json:"actions,omitempty"`
	Wanted  bool     `json:"wanted,omitempty"`  // the undo is requested
	Failure string   `json:"failure,omitempty"` // of the last attempt at the undo, or to prepare it
}

// member is one resource of a group, as it is undone.
type member struct {
	Address string      `json:"address"`
	Order   int         `json:"order"` // of its actions in the group
	Undo    runner.Spec `json:"undo"`
	Ready   bool        `json:"ready,omitempty"` // the container of its undo is made
}

// action is an action of a group that was begun.
type action struct {
	ID      string        `json:"id"`
	Address string        `json:"address"`
	Limit   time.Duration `json:"limit"`
	PID     int           `json:"pid"` // of the agent that carries it out
	Started string        `json:"started"`
	Ended   bool          `json:"ended,omitempty"`
}

// dir is the directory of a group. The record in it is changed under its lock. The name of another
// file in it is the verdict, so that a rename decides.
type dir string

const recordFile, lockFile = "record", "lock"

// verdict returns what is decided. It tries the files in the order in which they follow each other.
func (d dir) verdict() (runner.Verdict, error) {
	for _, v := range []runner.Verdict{runner.Armed, runner.Undoing, runner.Undone, runner.Confirmed} {
		_, err := os.Lstat(d.file(string(v)))
		switch {
		case err == nil:
			return v, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return runner.Nothing, nil
}

// decide moves a group from one verdict to the next, and reports whether that was the verdict.
func (d dir) decide(from, to runner.Verdict) (bool, error) {
	err := os.Rename(d.file(string(from)), d.file(string(to)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = durable.SyncDir(string(d))
	}
	return err == nil, err
}

func (d dir) file(name string) string { return filepath.Join(string(d), name) }

// read returns the record.
func (d dir) read() (Record, error) {
	var r Record
	content, err := os.ReadFile(d.file(recordFile))
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fmt.Errorf("the record of guarded actions cannot be read: %w", err)
	}
	return r, nil
}

// change changes the record, unless change returns an error.
func (d dir) change(ctx context.Context, change func(*Record) error) error {
	lock, err := durable.WaitLock(ctx, d.file(lockFile), true, "deployster-host guard")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process anyway
	r, err := d.read()
	if err == nil {
		err = change(&r)
	}
	if err != nil {
		return err
	}
	return d.write(r)
}

// add adds a resource.
func (d dir) add(ctx context.Context, p runner.Protection) error {
	return d.change(ctx, func(r *Record) error {
		r.Failure = ""
		r.Members = append(r.Members, member{Address: p.Address, Order: p.Order, Undo: p.Undo})
		return nil
	})
}

func (d dir) write(r Record) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return durable.WriteFileHere(d.file(recordFile), content, 0o600)
}

// lives reports whether the process that carries out an action is alive.
func (a action) lives() bool { return a.Started != "" && proc.Of(a.PID).Since() == a.Started }

// undone returns the resources that are undone, in the order of their actions: all, also those whose
// own actions were not begun. What they read may have been changed, and read again, as at a boot.
func (r Record) undone() []member {
	if len(r.Actions) == 0 {
		return nil
	}
	list := slices.Clone(r.Members)
	slices.SortStableFunc(list, func(a, b member) int { return a.Order - b.Order })
	return list
}
