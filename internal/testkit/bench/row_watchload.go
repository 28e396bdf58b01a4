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
	"strings"
	"syscall"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// watchReloadRow is the first look at many resources, and a manifest that is read anew
// with one of them changed.
func watchReloadRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(10_000)
	b, err := l.workers(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	if err := b.do(ctx, "apply", "-auto-approve"); err != nil {
		return nil, err
	}
	of := fmt.Sprintf("%d worker resources", n)
	begin := time.Now()
	w, err := b.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	began := time.Since(begin)
	if err := w.looked(ctx, n); err != nil {
		return nil, err
	}
	first := line{What: "`watch` from its start until it has looked as often as there are resources, " + of,
		Ours: []meter.Usage{{Wall: time.Since(begin)}}, Goal: goal{Wall: 4 * time.Second},
		Note: "it said that it watches after " + round(began).String()}
	reload := line{What: "`watch` reads its manifests again, one changed, " + of, Goal: goal{Wall: 3 * time.Second}}
	before := slices.Sorted(maps.Keys(meter.Descendants()))
	ended, err := w.counted("process_restarts_total")
	if err != nil {
		return []line{first}, err
	}
	for i := range 2 * max(1, l.pairs/2) { // there and back
		took, err := w.reload(ctx, i)
		if err != nil {
			return []line{first}, err
		}
		reload.Ours = append(reload.Ours, meter.Usage{Wall: took})
	}
	restarts, err := w.counted("process_restarts_total")
	gone := 0
	for now := meter.Descendants(); len(before) > 0; before = before[1:] {
		if _, ok := now[before[0]]; !ok {
			gone++
		}
	}
	reload.Note = fmt.Sprintf("%d requests of those that did not change were begun again, %d processes ended", int(restarts-ended), gone)
	return []line{first, reload}, err
}

// reload changes the last resource, or changes it back, and gives how long it takes until
// the watch goes on with that.
func (w *watching) reload(ctx context.Context, i int) (time.Duration, error) {
	files, err := filepath.Glob(filepath.Join(w.work, "f*.hcl"))
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
	said := strings.Count(w.said(), "watching on: ")
	begin := time.Now()
	if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return 0, err
	}
	err = w.until(ctx, func() bool { return strings.Count(w.said(), "watching on: ") > said })
	return time.Since(begin), err
}

// watchFloodRow is what a watch takes, and how others fare, while one process tells of
// 10,000 changes a second.
func watchFloodRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := max(2, l.sized(1000))
	manifest := fmt.Sprintf(someDisks, "told", "disk", "", 0, n) + fmt.Sprintf(someDisks, "floods", "floods", "", n, n+1)
	w, end, err := l.watched(ctx, manifest, []string{"floods"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := w.looked(ctx, n+1); err != nil {
		return nil, err
	}
	meter.Settle()
	quiet := memoryOfAll()
	if err := w.write(map[string][]byte{"world/flood": nil}); err != nil {
		return nil, err
	}
	const flood = time.Minute
	others := line{What: fmt.Sprintf("`watch`: a file is deleted until it is there again, one of %d, beside a flood", n),
		Goal: goal{Slow: 2 * time.Second}}
	before, begin, most := meter.Work(), time.Now(), int64(0)
	for i := 0; time.Since(begin) < flood; i++ {
		took, err := w.change(ctx, i%n)
		if err != nil {
			return nil, err
		}
		others.Ours = append(others.Ours, meter.Usage{Wall: took})
		most = max(most, memoryOfAll())
	}
	in := fmt.Sprintf("`watch` of %d by events in a minute in which one process tells of 10,000 changes a second", n)
	taken := line{What: in, Ours: []meter.Usage{{Wall: time.Since(begin), Work: meter.Work() - before}}, Goal: goal{Share: 0.3}}
	ended, err := w.counted("process_restarts_total")
	taken.Note = fmt.Sprintf("what floods was ended %d times; its own work and that of %d repairs is in it", int(ended), len(others.Ours))
	added := line{What: in + ": memory more than before", Goal: goal{Memory: 20},
		Ours: []meter.Usage{{Wall: flood, Memory: max(0, most-quiet)}}}
	return []line{taken, added, others}, err
}

// watchPeopleRow is how long a command of a person waits for a watch that repairs five
// things a second.
func watchPeopleRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(1000)
	w, end, err := l.watched(ctx, fmt.Sprintf(someDisks, "told", "disk", "", 0, n), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := w.looked(ctx, n); err != nil {
		return nil, err
	}
	apply := []string{"apply", "-auto-approve", "-target", fmt.Sprintf("told[\"%d\"]", n-1)}
	took := func() (list []float64, err error) {
		for range 6 * l.pairs {
			begin := time.Now()
			if err := w.do(ctx, apply...); err != nil {
				return nil, err
			}
			list = append(list, float64(time.Since(begin)))
		}
		return list, nil
	}
	alone, err := took()
	if err != nil {
		return nil, err
	}
	done, repairing := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := w.changes(ctx, n-1, 200*time.Millisecond, done)
		repairing <- err
	}()
	beside, err := took()
	close(done)
	if err = errors.Join(err, <-repairing); err != nil {
		return nil, err
	}
	out := line{What: "`apply` of one beside a `watch` that repairs five things a second: how much longer", Goal: goal{Slow: time.Second}}
	for _, b := range beside {
		out.Ours = append(out.Ours, meter.Usage{Wall: max(0, time.Duration(b-spreadOf(alone).median))})
	}
	out.Note = fmt.Sprintf("%s alone, %s beside it", spreadOf(alone).duration(), spreadOf(beside).duration())
	return []line{out}, nil
}
