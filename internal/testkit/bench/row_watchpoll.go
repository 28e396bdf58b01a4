package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// someDisks declares disks that do not depend on each other. What is said more is of
// the type.
const someDisks = `type "%[1]s" {
  image = "bench/%[2]s:1"
  %[3]s
}
resource "%[1]s" {
  for_each = toset([for i in range(%[4]d, %[5]d) : tostring(i)])
  type     = type.%[1]s
  config   = { name = "disk-${each.key}", zone = "eu" }
}
`

// watched makes a bed with what a manifest declares, once it was applied, and starts a
// watch.
func (l *lab) watched(ctx context.Context, manifest string, types []string, flags ...string) (w *watching, end func() error, err error) {
	b, err := l.workers(ctx, 0)
	if err == nil {
		err = b.write(map[string][]byte{"main.hcl": []byte(manifest)})
	}
	for _, name := range types {
		if err == nil {
			err = b.packDisk(ctx, name)
		}
	}
	if err == nil {
		err = b.do(ctx, "apply", "-auto-approve")
	}
	if err == nil {
		w, err = b.begin(ctx, flags...)
	}
	if err != nil {
		return nil, nil, errors.Join(err, b.close())
	}
	return w, func() error { return errors.Join(w.end(), b.close()) }, nil
}

// coldWatches is how many are watched by a container each: root may have 128 instances of
// inotify on a usual machine, and there are two for each.
const coldWatches = 32

// watchColdRow is the time from a change to its repair where each run is a container.
func watchColdRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := max(coldWatches, l.sized(100))
	manifest := fmt.Sprintf(someDisks, "told", "disk", "workers = 0", 0, coldWatches) +
		fmt.Sprintf(someDisks, "quiet", "quiet", "workers = 0", coldWatches, n)
	w, end, err := l.watched(ctx, manifest, []string{"quiet"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := w.looked(ctx, n); err != nil {
		return nil, err
	}
	out := line{What: fmt.Sprintf("`watch`: a file is deleted until it is there again, %d resources, a container for each run", n),
		Goal: goal{Wall: 1200 * time.Millisecond, Slow: 3 * time.Second}, Note: fmt.Sprintf("%d are watched, by a container each", coldWatches)}
	for i := range 10 * l.pairs {
		took, err := w.change(ctx, i%coldWatches)
		if err != nil {
			return nil, err
		}
		out.Ours = append(out.Ours, meter.Usage{Wall: took})
	}
	return []line{out}, nil
}

// watchPollRow is the time from a change to its repair where nobody tells of it. It has a
// poll of ten seconds, and the goal of a poll of a minute is scaled to it.
func watchPollRow(ctx context.Context, l *lab) (lines []line, err error) {
	const poll = 10 * time.Second
	n := l.sized(1000)
	w, end, err := l.watched(ctx, fmt.Sprintf(someDisks, "quiet", "quiet", "", 0, n), []string{"quiet"}, "-poll", poll.String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := w.looked(ctx, n); err != nil {
		return nil, err
	}
	out := line{What: fmt.Sprintf("`watch -poll %s`: a file is deleted until it is there again, %d worker resources that tell of nothing",
		poll, n),
		Goal: goal{Slow: 11200 * time.Millisecond}, Note: "the goal is 67s with a poll of a minute"}
	out.Ours, err = w.changes(ctx, min(n, 20*l.pairs), 200*time.Millisecond, nil)
	return []line{out}, err
}

// watchRestRow is what a watch by polls takes while nothing happens.
func watchRestRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(1000)
	w, end, err := l.watched(ctx, fmt.Sprintf(someDisks, "quiet", "quiet", "", 0, n), []string{"quiet"}, "-poll", "1m")
	if err != nil {
		return nil, err
	}
	err = w.looked(ctx, n)
	if err == nil {
		lines = make([]line, 1)
		lines[0], err = w.rest(ctx, fmt.Sprintf("`watch -poll 1m` of %d worker resources for %s while nothing happens", n, l.idle),
			goal{Share: 0.02})
	}
	if err = errors.Join(err, end()); err != nil {
		return lines, err
	}
	cold := max(1, n/4) // where each look is a container, as many take minutes before anything is measured
	for _, c := range []struct {
		n                 int
		image, poll, what string
		share             float64
		note              string
	}{
		{n, reuseThing, "1m", "resources with `reuse`", 0.08, ""},
		{cold, coldThing, "5m", "resources, a container for each look", 0.5 / 4, "the goal is 50 % with four times as many"},
	} {
		out, err := l.restOf(ctx, c.n, c.image, c.poll, line{Goal: goal{Share: c.share}, Note: c.note,
			What: fmt.Sprintf("`watch -poll %s` of %d %s for %s while nothing happens", c.poll, c.n, c.what, l.idle)})
		if lines = append(lines, out); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// restOf measures the rest of n resources of the type thing. What they are made of is
// there before they are applied, so that there is nothing to be done.
func (l *lab) restOf(ctx context.Context, n int, image, poll string, out line) (_ line, err error) {
	b, err := l.things(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return out, err
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(b.work, "world", thingName(i)), nil, 0o600); err != nil {
			return out, err
		}
	}
	if err := b.do(ctx, "apply", "-auto-approve", "-var", "image="+image); err != nil {
		return out, err
	}
	w, err := b.begin(ctx, "-poll", poll, "-var", "image="+image)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	if err := w.looked(ctx, n); err != nil {
		return out, err
	}
	rest, err := w.rest(ctx, out.What, out.Goal)
	out.Ours = rest.Ours
	return out, err
}
