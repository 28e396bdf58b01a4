package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// How long is waited for what a watch is to do, and how long it is watched while
// nothing happens.
const (
	watchPatience = 3 * time.Minute
	watchIdle     = 20 * time.Second
	watchRest     = 700 * time.Millisecond // between two changes: the repair before is over
)

// watchRow is the time from an external change to its repair, by events that a worker
// tells of, and what a watch takes while nothing happens.
func watchRow(ctx context.Context, l *lab) (lines []line, err error) {
	for _, size := range []struct {
		n    int
		goal time.Duration
	}{{100, 30 * time.Millisecond}, {1000, 80 * time.Millisecond}, {10_000, 500 * time.Millisecond}} {
		got, err := l.watchOf(ctx, l.sized(size.n), size.goal)
		if lines = append(lines, got...); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// watchOf measures the watch of n resources.
func (l *lab) watchOf(ctx context.Context, n int, limit time.Duration) (lines []line, err error) {
	b, err := l.workers(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	if err := b.do(ctx, "apply", "-auto-approve"); err != nil {
		return nil, err
	}
	w, err := b.watch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	first := line{What: fmt.Sprintf("`watch` until the first repair, of %d worker resources", n),
		Ours: []usage{{Wall: w.first, Memory: memoryNow(w.pid())}}}
	changed := line{What: fmt.Sprintf("`watch`: a file is deleted until it is there again, %d worker resources", n), Goal: goal{Wall: limit}}
	for range 10 * l.pairs {
		took, err := w.change(ctx, rand.IntN(n))
		if err != nil {
			return lines, err
		}
		changed.Ours = append(changed.Ours, usage{Wall: took})
	}
	walls := slices.Sorted(slices.Values(each(changed.Ours, wallOf)))
	changed.Note = fmt.Sprintf("of %d changes the slowest but one of twenty %s", len(walls), round(time.Duration(walls[len(walls)*95/100])))
	idle := line{What: fmt.Sprintf("`watch` of %d worker resources for %s while nothing happens", n, watchIdle)}
	u, err := w.idle(ctx)
	idle.Ours = []usage{u}
	lines = append(lines, first, changed, idle)
	if err != nil {
		return lines, err
	}
	restart := line{What: fmt.Sprintf("`watch` killed and begun again, until what broke meanwhile is repaired, %d worker resources", n)}
	took, err := w.restart(ctx, rand.IntN(n))
	restart.Ours = []usage{{Wall: took}}
	return append(lines, restart), err
}

// memoryNow is the memory that a process has now, in MiB.
func memoryNow(pid int) int64 { return proportional(pid) >> 10 }

// watching is a watch that runs on a bed.
type watching struct {
	*bed
	cmd   *exec.Cmd
	out   string
	first time.Duration
}

// watch starts a watch, and waits for its first repair.
func (b *bed) watch(ctx context.Context) (*watching, error) {
	w := &watching{bed: b, out: filepath.Join(b.data, "watch.out")}
	begin := time.Now()
	if err := w.start(ctx); err != nil {
		return w, err
	}
	if err := w.until(ctx, func() bool { return strings.Contains(w.said(), "watching ") }); err != nil {
		return w, errors.Join(err, w.end())
	}
	if _, err := w.change(ctx, 0); err != nil {
		return w, errors.Join(err, w.end())
	}
	w.first = time.Since(begin)
	return w, nil
}

func (w *watching) pid() int { return w.cmd.Process.Pid }

func (w *watching) said() string {
	text, _ := os.ReadFile(w.out) // it may not have said anything yet
	return string(text)
}

// start starts the process.
func (w *watching) start(ctx context.Context) error {
	out, err := os.Create(w.out)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // its child has it
	c := w.deployster("watch")
	w.cmd = exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	w.cmd.Dir, w.cmd.Env, w.cmd.Stdout, w.cmd.Stderr = c.dir, append(os.Environ(), c.env...), out, out
	w.cmd.Cancel = func() error { return w.cmd.Process.Signal(os.Interrupt) }
	w.cmd.WaitDelay = 20 * time.Second
	return w.cmd.Start()
}

// end ends the process as systemd does.
func (w *watching) end() error {
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("watch: %w: %s", err, shorten(w.said()))
	}
	return nil
}

// until waits until something is so.
func (w *watching) until(ctx context.Context, is func() bool) error {
	for deadline := time.Now().Add(watchPatience); !is(); time.Sleep(500 * time.Microsecond) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			said := w.said()
			return fmt.Errorf("the watch did not do it in %s: %s", watchPatience, said[max(0, len(said)-1000):])
		}
	}
	return nil
}

// change deletes the file of a resource, and gives how long it took until it was there
// again.
func (w *watching) change(ctx context.Context, i int) (time.Duration, error) {
	path := filepath.Join(w.work, "world", fmt.Sprintf("disk-%d", i))
	begin := time.Now()
	if err := os.Remove(path); err != nil {
		return 0, err
	}
	err := w.until(ctx, func() bool { _, err := os.Stat(path); return err == nil })
	took := time.Since(begin)
	time.Sleep(watchRest)
	return took, err
}

// idle measures a time in which nothing happens.
func (w *watching) idle(ctx context.Context) (usage, error) {
	before := settle()
	select {
	case <-time.After(watchIdle):
	case <-ctx.Done():
		return usage{}, context.Cause(ctx)
	}
	u := usage{Wall: watchIdle, Work: descendantsWork() - before, Memory: memoryNow(w.pid())}
	for _, pid := range servers() {
		u.Server += memoryNow(pid)
	}
	return u, nil
}

// restart kills the watch, breaks something and starts it again.
func (w *watching) restart(ctx context.Context, i int) (time.Duration, error) {
	if err := w.cmd.Process.Kill(); err != nil {
		return 0, err
	}
	_ = w.cmd.Wait() // it was killed
	path := filepath.Join(w.work, "world", fmt.Sprintf("disk-%d", i))
	if err := os.Remove(path); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := w.start(ctx); err != nil {
		return 0, err
	}
	err := w.until(ctx, func() bool { _, err := os.Stat(path); return err == nil })
	return time.Since(begin), err
}
