package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deployster/internal/runtime/runner"
)

// Host runs the undo of a group.
type Host interface {
	runner.Launcher
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
	// End ends an action that still runs, with all of its processes.
	End(ctx context.Context, id string) error
}

// keeper is the process of a group.
type keeper struct {
	dir      dir
	host     Host
	boot     string
	now      func() time.Time
	remove   func(context.Context) error // removes its unit
	prepared map[string][]*prepared      // by address: containers whose programs wait for their input
	begun    map[string]time.Time        // when an action was first seen
	rest     time.Time                   // since when nothing runs; zero = something runs
	seen     int                         // protected resources and actions when rest was set
	failures int
	retry    time.Time // no attempt at the undo before
}

// prepared is the undo of a resource, which waits for its input.
type prepared struct {
	runner.Process
	output *runner.Log
	read   chan struct{} // closed at the end of its output
}

// The pauses between attempts at an undo that fails.
const (
	firstPause = 2 * time.Second
	mostPause  = time.Minute
)

// Keep is the process of a group: it returns when the group is settled. It logs errors, and continues.
func Keep(ctx context.Context, g Guards, key string, host Host, log func(error)) error {
	d, err := g.at(key)
	if err != nil {
		return err
	}
	k := newKeeper(d, host, g.Boot, func(ctx context.Context) error { return g.Units.Remove(ctx, key) })
	defer k.drop()
	for {
		over, err := k.step(ctx)
		if over {
			return err
		}
		next := often
		if err != nil {
			log(err)
			next = firstPause
		}
		if err := pause(ctx, next); err != nil {
			return err
		}
	}
}

func newKeeper(d dir, host Host, boot string, remove func(context.Context) error) *keeper {
	return &keeper{dir: d, host: host, boot: boot, now: time.Now, remove: remove, prepared: map[string][]*prepared{},
		begun: map[string]time.Time{}}
}

// step does what is to be done now. over = the group is settled, and nothing of it is left.
func (k *keeper) step(ctx context.Context) (over bool, err error) {
	v, err := k.dir.verdict()
	if err != nil {
		return false, err
	}
	if v == runner.Confirmed || v == runner.Undone || v == runner.Nothing {
		return true, k.clear(ctx)
	}
	r, err := k.dir.read()
	if err != nil {
		if now, _ := k.dir.verdict(); now != v {
			return false, nil
		}
		return false, err
	}
	if v == runner.Armed && r.Boot == k.boot {
		k.prepare(ctx, r)
	}
	s, late := k.look(ctx, r, v)
	switch s.next() {
	case end:
		return false, k.host.End(ctx, late)
	case undo:
		if k.now().Before(k.retry) {
			return false, nil
		}
		return false, k.undo(ctx, s.idle)
	}
	return false, nil
}

// look returns what is seen of a group now, and the action that runs past its limit.
func (k *keeper) look(ctx context.Context, r Record, v runner.Verdict) (s seen, late string) {
	now := k.now()
	s = seen{verdict: v, rebooted: r.Boot != k.boot, wanted: r.Wanted, after: r.After}
	for _, a := range r.Actions {
		if s.rebooted || a.Ended {
			continue
		}
		if k.begun[a.ID].IsZero() {
			k.begun[a.ID] = now
		}
		running := a.lives()
		if there, err := k.host.Running(ctx, a.ID); err != nil || there {
			running = true // in doubt it does
		}
		if running {
			s.running = true
			if now.Sub(k.begun[a.ID]) > a.Limit+runner.DefaultGrace {
				s.past, late = true, a.ID
			}
		}
	}
	if s.running {
		k.rest = time.Time{}
		return s, late
	}
	if n := len(r.Actions) + len(r.Members); k.rest.IsZero() || k.seen != n {
		k.rest, k.seen = now, n
	}
	s.idle = now.Sub(k.rest)
	return s, ""
}

// prepare makes the containers of the undo of resources that were added.
func (k *keeper) prepare(ctx context.Context, r Record) {
	for i, m := range r.Members {
		if k.prepared[m.Address] != nil {
			continue
		}
		err := k.make(ctx, m, 2) // for both passes
		// A failure to write it is noticed by whoever waits for it.
		_ = k.dir.change(ctx, func(r *Record) error {
			if err != nil {
				r.Failure = err.Error()
			} else {
				r.Members[i].Ready, r.Failure = true, ""
			}
			return nil
		})
		if err != nil {
			return
		}
	}
}

// make makes containers of one undo.
func (k *keeper) make(ctx context.Context, m member, n int) error {
	var all []*prepared
	for range n {
		p, err := k.launch(ctx, m)
		if err != nil {
			for _, p := range all {
				p.Kill()
			}
			return err
		}
		all = append(all, p)
	}
	k.prepared[m.Address] = all
	return nil
}

func (k *keeper) launch(ctx context.Context, m member) (*prepared, error) {
	s := m.Undo
	s.Stdin, s.Kind, s.ID = nil, runner.Query, ""
	s.Mounts = Mounts(s)
	p, err := k.host.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	one := &prepared{Process: p, output: runner.NewLog(8 << 10), read: make(chan struct{})}
	go func() {
		_, _ = io.Copy(one.output, p.Stdout()) // its end is that of the program
		close(one.read)
	}()
	return one, nil
}

// Mounts returns the mounts of a program that saves or undoes: a mount of a directory of a group is marked as deployster's own.
func Mounts(s runner.Spec) []runner.Mount {
	list := slices.Clone(s.Mounts)
	for i, m := range list {
		list[i].Own = m.Own || filepath.Base(filepath.Dir(filepath.Dir(m.Source))) == "guard" && m.Source == m.Target
	}
	return list
}

// take returns a container for an undo: one that waits, or a new one.
func (k *keeper) take(ctx context.Context, m member) (*prepared, error) {
	if list := k.prepared[m.Address]; len(list) > 0 {
		k.prepared[m.Address] = list[:len(list)-1]
		return list[len(list)-1], nil
	}
	return k.launch(ctx, m)
}

// undo decides that a group is undone, and undoes it. It decides under the lock of the record, so
// that no action begins at that time.
func (k *keeper) undo(ctx context.Context, idle time.Duration) error {
	var list []member
	decided := false
	err := k.dir.change(ctx, func(r *Record) error {
		v, err := k.dir.verdict()
		if err != nil {
			return err
		}
		if s, _ := k.look(ctx, *r, v); s.next() != undo {
			return nil // an action has begun, or it is confirmed
		}
		if decided = v == runner.Undoing; !decided {
			decided, err = k.dir.decide(runner.Armed, runner.Undoing)
		}
		list = r.undone()
		return err
	})
	if err != nil || !decided {
		return err
	}
	back, again := passes(len(list))
	failed := map[int]error{}
	for _, i := range append(back, again...) {
		failed[i] = k.undoOne(ctx, list[i])
	}
	var wrong []string
	for i, m := range list {
		if failed[i] != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %s", m.Address, failed[i]))
		}
	}
	if len(wrong) > 0 {
		k.retry = k.now().Add(min(firstPause<<min(k.failures, 10), mostPause))
		k.failures++
		return k.dir.change(ctx, func(r *Record) error { r.Failure = strings.Join(wrong, "; "); return nil })
	}
	_, err = k.dir.decide(runner.Undoing, runner.Undone)
	return err
}

// undoing is how long an undo may run.
const undoing = 5 * time.Minute

// undoOne undoes the actions on one resource.
func (k *keeper) undoOne(ctx context.Context, m member) error {
	p, err := k.take(ctx, m)
	if err != nil {
		return err
	}
	limit := time.AfterFunc(undoing, p.Kill)
	defer limit.Stop()
	if _, err := io.Copy(p.Stdin(), bytes.NewReader(m.Undo.Stdin)); err == nil {
		_ = p.Stdin().Close() // its end shows whether it has read all
	}
	<-p.read
	result, err := p.Wait()
	switch {
	case err != nil:
		return err
	case result.ExitCode != 0:
		said := strings.TrimSpace(string(result.Stderr))
		if said == "" {
			said = strings.TrimSpace(string(p.output.Bytes()))
		}
		return fmt.Errorf("exit %d: %s", result.ExitCode, said[strings.LastIndexByte(said, '\n')+1:])
	}
	return nil
}

// clear removes what is left of a group that is settled, but for the verdict, which its client reads.
func (k *keeper) clear(ctx context.Context) error {
	k.drop()
	entries, err := os.ReadDir(string(k.dir))
	for _, e := range entries {
		if v := runner.Verdict(e.Name()); v != runner.Confirmed && v != runner.Undone {
			err = errors.Join(err, os.RemoveAll(k.dir.file(e.Name())))
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, k.remove(ctx))
}

// drop ends the programs that wait for their input.
func (k *keeper) drop() {
	for _, list := range k.prepared {
		for _, p := range list {
			p.Kill()
			_, _ = p.Wait() // it was not needed
		}
	}
	k.prepared = map[string][]*prepared{}
}
