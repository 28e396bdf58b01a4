package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
)

// Limit is how long a guarded action may run that has no time limit of its own.
const Limit = 10 * time.Minute

// often is how often the process of a group checks what to do, and others what it has done.
var often = 50 * time.Millisecond

// preparing is how long it may take to make the container of an undo.
const preparing = time.Minute

// Guards are the groups of one machine. The agent of a client uses them.
type Guards struct {
	DataDir string
	Units   Units
	Boot    string // of the machine
}

// errDecided is why an action of a group is not begun.
var errDecided = errors.New("its group of guarded actions is not armed any more: what they have done is undone")

func (g Guards) root() string { return filepath.Join(g.DataDir, "guard") }

// at returns the directory of a group.
func (g Guards) at(key string) (dir, error) {
	if key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return "", fmt.Errorf("%q is not the key of a group", key)
	}
	return dir(filepath.Join(g.root(), key)), nil
}

// Arm makes the record of a group durable, and starts its process.
func (g Guards) Arm(ctx context.Context, group runner.Group, h Holder) error {
	d, err := g.at(group.Key)
	if err != nil {
		return err
	}
	if err := g.Units.Usable(); err != nil {
		return err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	err = d.write(Record{Group: group, Holder: h, Boot: g.Boot})
	holder, wrong := json.Marshal(h)
	if err = errors.Join(err, wrong); err == nil {
		err = durable.WriteFileHere(d.file(string(runner.Armed)), holder, 0o600)
	}
	if err == nil {
		err = durable.SyncDir(g.root())
	}
	if err == nil {
		err = g.Units.Start(ctx, group.Key)
	}
	if err != nil {
		err = fmt.Errorf("the undo of guarded actions cannot be armed: %w", err)
		return errors.Join(err, g.Units.Remove(ctx, group.Key), os.RemoveAll(string(d)))
	}
	return nil
}

// Directory makes the directory in which a type saves what the undo of a resource needs.
func (g Guards) Directory(key, address string) error {
	d, err := g.at(key)
	if err != nil {
		return err
	}
	if v, err := d.verdict(); err != nil || v != runner.Armed {
		return errors.Join(err, errDecided)
	}
	return os.MkdirAll(runner.Host{DataDir: g.DataDir}.GuardDir(key, address), 0o700)
}

// Protect adds a resource to a group, and waits until the container of its undo is made.
func (g Guards) Protect(ctx context.Context, p runner.Protection) error {
	d, err := g.at(p.Key)
	if err == nil {
		err = d.add(ctx, p)
	}
	if err != nil {
		return err
	}
	for limit := time.Now().Add(preparing); ; {
		r, err := d.read()
		switch {
		case err != nil:
			return err
		case r.Members[len(r.Members)-1].Ready:
			return nil
		case r.Failure != "":
			return fmt.Errorf("the undo cannot be prepared: %s", r.Failure)
		case time.Now().After(limit):
			return fmt.Errorf("the undo cannot be prepared: the unit %s does not do it in %s", unitName(p.Key), preparing)
		}
		if err := pause(ctx, often); err != nil {
			return err
		}
	}
}

// Begin notes that an action is about to begin. After an error it must not.
func (g Guards) Begin(ctx context.Context, key, id, address string, limit time.Duration) error {
	d, err := g.at(key)
	if err != nil {
		return err
	}
	return d.change(ctx, func(r *Record) error {
		if v, err := d.verdict(); err != nil || v != runner.Armed || r.Wanted {
			return errors.Join(err, errDecided)
		}
		r.Actions = append(r.Actions, action{ID: id, Address: address, Limit: limit, PID: os.Getpid(),
			Started: proc.Of(os.Getpid()).Since()})
		return nil
	})
}

// End notes that an action has ended.
func (g Guards) End(ctx context.Context, key, id string) error {
	d, err := g.at(key)
	if err != nil {
		return err
	}
	return d.change(ctx, func(r *Record) error {
		for i := range r.Actions {
			r.Actions[i].Ended = r.Actions[i].Ended || r.Actions[i].ID == id
		}
		return nil
	})
}

// Confirm decides that the actions of a group stay, unless they are being undone.
func (g Guards) Confirm(key string) (runner.Settlement, error) {
	d, err := g.at(key)
	if err != nil {
		return runner.Settlement{}, err
	}
	if _, err := d.decide(runner.Armed, runner.Confirmed); err != nil {
		return runner.Settlement{}, err
	}
	return g.Read(key)
}

// Revert requests the undo of a group.
func (g Guards) Revert(ctx context.Context, key string) error {
	d, err := g.at(key)
	if err != nil {
		return err
	}
	err = d.change(ctx, func(r *Record) error { r.Wanted = true; return nil })
	if v, _ := d.verdict(); v != runner.Armed {
		return nil // it is decided
	}
	return err
}

// Read returns what has become of a group.
func (g Guards) Read(key string) (runner.Settlement, error) {
	d, err := g.at(key)
	if err != nil {
		return runner.Settlement{}, err
	}
	v, err := d.verdict()
	if err != nil || v != runner.Undoing {
		return runner.Settlement{Verdict: v}, err
	}
	r, err := d.read()
	if errors.Is(err, fs.ErrNotExist) {
		return g.Read(key) // it was undone in the meantime
	}
	return runner.Settlement{Verdict: v, Failure: r.Failure}, err
}

// Forget removes what is left of a group that is settled.
func (g Guards) Forget(key string) error {
	d, err := g.at(key)
	if err != nil {
		return err
	}
	s, err := g.Read(key)
	if err != nil || !s.Settled() {
		return err
	}
	return os.RemoveAll(string(d))
}

// Pending returns the groups that are not settled.
func (g Guards) Pending() (list []Record, err error) {
	entries, err := os.ReadDir(g.root())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		d, bad := g.at(e.Name())
		if bad != nil {
			continue
		}
		v, wrong := d.verdict()
		if wrong == nil && (v == runner.Armed || v == runner.Undoing) {
			r, wrong := d.read()
			if wrong == nil {
				list = append(list, r)
			} else if now, _ := d.verdict(); now == v {
				err = errors.Join(err, wrong)
			}
		}
		err = errors.Join(err, wrong)
	}
	return list, err
}

// settling is how long a new holder of a state waits for the end of an undo that fails.
const settling = 30 * time.Second

// Settle has all groups undone that an earlier holder of a state has left, and waits for that. The
// new holder must not query anything before.
func (g Guards) Settle(ctx context.Context, h Holder) error {
	pending, err := g.Pending()
	if err != nil {
		return err
	}
	for _, r := range pending {
		if r.Holder.before(h) {
			if err := g.undone(ctx, r); err != nil {
				return err
			}
		}
	}
	return g.forget(h)
}

// forget removes the verdicts that an earlier holder of the state has not read any more.
func (g Guards) forget(h Holder) error {
	for _, v := range []runner.Verdict{runner.Confirmed, runner.Undone} {
		files, err := filepath.Glob(filepath.Join(g.root(), "*", string(v)))
		if err != nil {
			return err
		}
		for _, file := range files {
			var of Holder
			content, err := os.ReadFile(file)
			if err == nil && json.Unmarshal(content, &of) == nil && of.before(h) {
				if err := os.RemoveAll(filepath.Dir(file)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// before reports whether a holder had the state before another one, which has it now.
func (h Holder) before(now Holder) bool {
	return h.Lineage == now.Lineage && (h.Epoch != now.Epoch || h.Run != now.Run)
}

// undone has a group undone, and waits for that.
func (g Guards) undone(ctx context.Context, r Record) error {
	if err := g.Revert(ctx, r.Key); err != nil {
		return err
	}
	var failing time.Time
	for {
		s, err := g.Read(r.Key)
		switch {
		case err != nil:
			return err
		case s.Settled() || s.Verdict == runner.Nothing:
			return g.Forget(r.Key)
		case s.Failure == "":
			failing = time.Time{}
		case failing.IsZero():
			failing = time.Now()
		case time.Since(failing) > settling:
			return fmt.Errorf("the undo of guarded actions of %s has not succeeded yet, and is repeated: %s",
				strings.Join(r.Resources, ", "), s.Failure)
		}
		if err := pause(ctx, often); err != nil {
			return err
		}
	}
}

// pause waits, or returns why ctx has ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
