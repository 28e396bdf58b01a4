package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// watchRow is the time from an external change to its repair, by events that a worker
// tells of, what a watch takes while nothing happens, and how long it needs when it was
// killed.
func watchRow(ctx context.Context, l *lab) (lines []line, err error) {
	for _, size := range []struct {
		n          int
		goal, slow time.Duration
		memory     int64
	}{{100, 30 * time.Millisecond, 200 * time.Millisecond, 0}, {1000, 80 * time.Millisecond, 500 * time.Millisecond, 130},
		{10_000, 500 * time.Millisecond, 2 * time.Second, 260}} {
		got, err := l.watchOf(ctx, l.sized(size.n), goal{Wall: size.goal, Slow: size.slow}, goal{Share: 0.002, Memory: size.memory})
		if lines = append(lines, got...); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// watchOf measures the watch of n resources.
func (l *lab) watchOf(ctx context.Context, n int, change, idle goal) (lines []line, err error) {
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
	of := fmt.Sprintf("%d worker resources", n)
	first := line{What: "`watch` until the first repair, of " + of, Ours: []meter.Usage{{Wall: w.first, Memory: memoryNow(w.pid())}}}
	changed := line{What: "`watch`: a file is deleted until it is there again, " + of, Goal: change}
	for i := range 20 * l.pairs {
		took, err := w.change(ctx, i%n)
		if err != nil {
			return lines, err
		}
		changed.Ours = append(changed.Ours, meter.Usage{Wall: took})
	}
	lines = append(lines, first, changed)
	resting, err := w.rest(ctx, fmt.Sprintf("`watch` of %s by events for %s while nothing happens", of, l.idle), idle)
	if lines = append(lines, resting); err != nil {
		return lines, err
	}
	again := line{What: "`watch` killed and begun again, until it watches, " + of, Goal: goal{Wall: 2 * time.Second}}
	repaired := line{What: "`watch` killed and begun again, until what broke meanwhile is repaired, " + of, Goal: goal{Wall: 5 * time.Second}}
	if n > 1000 {
		again.Goal, repaired.Goal = goal{}, goal{}
	}
	for i := range l.pairs {
		watches, valid, err := w.restart(ctx, (20*l.pairs+i)%n)
		if err != nil {
			return lines, err
		}
		again.Ours, repaired.Ours = append(again.Ours, meter.Usage{Wall: watches}), append(repaired.Ours, meter.Usage{Wall: valid})
	}
	return append(lines, again, repaired), nil
}
