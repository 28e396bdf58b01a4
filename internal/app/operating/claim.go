package operating

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"deployster/internal/app/command"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/state"
)

// claim keeps other commands on this machine from beginning the same operations until release, of those tasks that change nothing:
// no lock and no journal does. An error is returned if one of them may still run.
func (r *operating) claim(place state.Place, prior state.Snapshot) (release func(), err error) {
	var held []*durable.Lock
	release = func() {
		for _, lock := range held {
			_ = lock.Remove() // a file that stays is locked by nobody
		}
	}
	for _, t := range r.tasks {
		if t.operation.Changing() {
			continue
		}
		lock, err := t.lock(r.command, place, prior)
		if err != nil {
			release()
			return nil, at(t.addr, err)
		}
		held = append(held, lock)
	}
	return release, nil
}

// lock takes the lock of a task that changes nothing.
func (t task) lock(c command.Command, place state.Place, prior state.Snapshot) (*durable.Lock, error) {
	path, err := t.lockFile(c, place)
	if err != nil {
		return nil, err
	}
	for {
		lock, err := durable.TryLock(path, true, "deployster")
		locked, is := errors.AsType[*durable.LockedError](err)
		switch {
		case is && locked.Holder != nil:
			return nil, t.runs(locked.Holder.String())
		case is:
			return nil, t.runs("another command")
		case err != nil:
			return nil, diag.Because(err, "Cannot lock the operation", "%s: %s. Nothing was run. An operation that changes nothing is "+
				"run once at a time, by a lock on this file.", path, err)
		case !lock.InPlace(): // the run before has removed it
			_ = lock.Unlock()
			continue
		}
		if _, local := place.(state.File); local {
			return lock, nil // all that use the state lock there
		}
		if until := prior.Operations.Until(t.addr, t.name); time.Now().Before(until) {
			_ = lock.Remove()
			return nil, diag.Errorf("The operation may still run", "A watch has begun %q of %s by its schedule, and has not "+
				"recorded its end. Nothing was run. Run it after %s, when the `timeouts { action }` of the resource is over.",
				t.name, t.addr, until.Format(time.RFC3339))
		}
		return lock, nil
	}
}

// runs is the error for a task that another command runs.
func (t task) runs(by string) error {
	return diag.Errorf("The operation still runs", "The operation %q of %s was started by %s, and has not ended. Only one run at a "+
		"time is allowed: wait until it has ended.", t.name, t.addr, diag.Visible(by))
}

// lockFile returns the file that is locked while a task that changes nothing runs: next to a state file, else in the directory
// of this machine.
func (t task) lockFile(c command.Command, place state.Place) (string, error) {
	sum := sha256.Sum256([]byte(place.String() + "\n" + t.key()))
	name := "operation-" + hex.EncodeToString(sum[:8])
	if file, local := place.(state.File); local {
		path, err := durable.Follow(string(file))
		sum = sha256.Sum256([]byte(t.key()))
		return path + ".operation-" + hex.EncodeToString(sum[:8]), err
	}
	dir := filepath.Join(c.Work.DataDir, "operations")
	if c.Work.DataDir == "" {
		dir = filepath.Join(c.Work.Dir, ".deployster", "operations")
	}
	return filepath.Join(dir, name), os.MkdirAll(dir, 0o700)
}
