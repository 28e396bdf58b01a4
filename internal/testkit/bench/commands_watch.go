package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// watchCommand is a command of a script about the watch that runs.
func watchCommand(f func(*watching, *script, []string) error) func(*script, []string) error {
	return func(s *script, args []string) error {
		if s.watch == nil {
			return errors.New("no watch has begun")
		}
		return f(s.watch, s, args)
	}
}

// beginWatch starts a watch of the bed, and ends it in the end. $watches is how long it took.
func (s *script) beginWatch(args []string) error {
	w, err := s.bed.begin(s.ctx, args...)
	if err != nil {
		return err
	}
	s.watch = w
	s.close = append(s.close, w.end)
	s.ts.Setenv("watches", round(w.checks).String())
	return nil
}

// awaitChecks waits until there were as many checks as there are resources. Not each is for
// the start: a resource that a type reports before its turn is checked for that.
func (w *watching) awaitChecks(s *script, args []string) error {
	n, err := number(args, 0, 1)
	for err == nil {
		looks, err := w.counted("looks_total")
		if err != nil {
			return err
		}
		if looks >= float64(n) {
			s.series["looked"] = []meter.Usage{{Wall: time.Since(w.began)}}
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	return err
}

// firstRepair is the time from the start of the watch to its first repair.
func (w *watching) firstRepair(s *script, _ []string) error {
	l, err := s.current()
	if err == nil {
		_, err = w.change(s.ctx, 0)
	}
	l.Ours = []meter.Usage{{Wall: time.Since(w.began) - watchPause, Memory: memoryNow(w.pid())}}
	return err
}

// measureChanges deletes the files of resources in turn: so many times for each pair, of so many.
func (w *watching) measureChanges(s *script, args []string) error {
	times, err := number(args, 0, 1)
	of, err2 := number(args, 1, 1)
	l, err3 := s.current()
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	for i := range times * s.lab.pairs {
		took, err := w.change(s.ctx, i%of)
		if err != nil {
			return err
		}
		l.Ours = append(l.Ours, meter.Usage{Wall: took})
	}
	return nil
}

// measureStream deletes the files of resources five times a second, so many for each pair, of so many.
func (w *watching) measureStream(s *script, args []string) error {
	times, err := number(args, 0, 1)
	of, err2 := number(args, 1, 1)
	l, err3 := s.current()
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	l.Ours, err = w.changes(s.ctx, min(of, times*s.lab.pairs), 200*time.Millisecond, nil)
	return err
}

// measureRest measures a time in which nothing happens.
func (w *watching) measureRest(s *script, _ []string) error {
	l, err := s.current()
	if err != nil {
		return err
	}
	u, err := w.measure(s.ctx, s.lab.idle)
	l.Ours = []meter.Usage{u}
	return err
}

// measureRestarts kills the watch, once for each pair: until it watches, and until the
// resource that broke meanwhile is repaired.
func (w *watching) measureRestarts(s *script, args []string) error {
	of, err := number(args, 0, 1)
	if err != nil {
		return err
	}
	s.series["watches"], s.series["repaired"] = nil, nil
	for i := range s.lab.pairs {
		watches, valid, err := w.restart(s.ctx, (20*s.lab.pairs+i)%of)
		if err != nil {
			return err
		}
		s.series["watches"] = append(s.series["watches"], meter.Usage{Wall: watches})
		s.series["repaired"] = append(s.series["repaired"], meter.Usage{Wall: valid})
	}
	return nil
}

// measureReloads changes a manifest and changes it back. $restarts and $gone are what that
// cost those that did not change.
func (w *watching) measureReloads(s *script, _ []string) error {
	l, err := s.current()
	if err != nil {
		return err
	}
	before := slices.Sorted(maps.Keys(meter.Descendants()))
	ended, err := w.counted("process_restarts_total")
	if err != nil {
		return err
	}
	for i := range 2 * max(1, s.lab.pairs/2) {
		took, err := w.reload(s.ctx, i)
		if err != nil {
			return err
		}
		l.Ours = append(l.Ours, meter.Usage{Wall: took})
	}
	restarts, err := w.counted("process_restarts_total")
	now := meter.Descendants()
	gone := slices.DeleteFunc(before, func(pid int) bool { _, lives := now[pid]; return lives })
	s.ts.Setenv("restarts", strconv.Itoa(int(restarts-ended)))
	s.ts.Setenv("gone", strconv.Itoa(len(gone)))
	return err
}

// reload changes the last resource, or changes it back, and gives how long it takes until
// the watch continues with that.
func (w *watching) reload(ctx context.Context, i int) (time.Duration, error) {
	files, err := filepath.Glob(filepath.Join(w.bed.work, "f*.hcl"))
	if err != nil {
		return 0, err
	}
	slices.Sort(files)
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		return 0, err
	}
	const is, other = "    zone = var.zone\n", "    zone = \"other\"\n"
	changed := bytes.Replace(text, []byte(is), []byte(other), 1)
	if i%2 == 1 {
		changed = bytes.Replace(text, []byte(other), []byte(is), 1)
	}
	if err := os.WriteFile(files[len(files)-1], changed, 0o600); err != nil {
		return 0, err
	}
	printed := strings.Count(w.output(), "watching on: ")
	begin := time.Now()
	if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return 0, err
	}
	err = w.await(ctx, func() bool { return strings.Count(w.output(), "watching on: ") > printed })
	return time.Since(begin), err
}

// measureFlood has one process report changes without end for a time. Under the names
// "flooded", "added" and "others" are what that takes, the memory more than before, and the
// repairs of others of so many meanwhile. $ended is how many times the process was ended.
func (w *watching) measureFlood(s *script, args []string) error {
	n, err := number(args, 0, 1)
	if err != nil || len(args) < 2 {
		return errors.Join(err, errors.New("usage: flood N TIME"))
	}
	span, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	meter.Settle()
	quiet := memoryOfAll()
	if err := w.bed.write(map[string][]byte{"world/flood": nil}); err != nil {
		return err
	}
	before, begin, most := meter.Work(), time.Now(), int64(0)
	for i := 0; time.Since(begin) < span; i++ {
		took, err := w.change(s.ctx, i%n)
		if err != nil {
			return err
		}
		s.series["others"] = append(s.series["others"], meter.Usage{Wall: took})
		most = max(most, memoryOfAll())
	}
	s.series["flooded"] = []meter.Usage{{Wall: time.Since(begin), Work: meter.Work() - before}}
	s.series["added"] = []meter.Usage{{Wall: span, Memory: max(0, most-quiet)}}
	ended, err := w.counted("process_restarts_total")
	s.ts.Setenv("ended", strconv.Itoa(int(ended)))
	s.ts.Setenv("repairs", strconv.Itoa(len(s.series["others"])))
	return err
}

// measurePeople measures how much longer a command takes while the watch repairs five of so
// many a second.
func (w *watching) measurePeople(s *script, args []string) error {
	n, err := number(args, 0, 1)
	l, err2 := s.current()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	timed := func() (list []float64, err error) {
		for range 6 * s.lab.pairs {
			begin := time.Now()
			if err := w.bed.do(s.ctx, args[1:]...); err != nil {
				return nil, err
			}
			list = append(list, float64(time.Since(begin)))
		}
		return list, nil
	}
	alone, err := timed()
	if err != nil {
		return err
	}
	done, repairing := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := w.changes(s.ctx, n, 200*time.Millisecond, done)
		repairing <- err
	}()
	together, err := timed()
	close(done)
	if err = errors.Join(err, <-repairing); err != nil {
		return err
	}
	for _, took := range together {
		l.Ours = append(l.Ours, meter.Usage{Wall: max(0, time.Duration(took-spreadOf(alone).median))})
	}
	l.Note = fmt.Sprintf("%s alone, %s beside it", spreadOf(alone).duration(), spreadOf(together).duration())
	return nil
}
