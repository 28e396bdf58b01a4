package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/testkit/bench/meter"
)

// lab is what all rows have in common.
type lab struct {
	tool      string // bin/deployster
	terraform string // "" = this machine has none
	pairs     int
	scale     float64       // of the numbers of resources
	idle      time.Duration // how long is looked at a watch that rests
	meter     meter.Meter
}

// sized gives the number of resources for a row made for n.
func (l *lab) sized(n int) int { return max(1, int(float64(n)*l.scale)) }

// side is one of the two that take turns. What prepares it is not measured.
type side struct {
	prepare func() error                // may be nil
	run     func() (meter.Usage, error) // nil: there is nothing on this side
}

func (s side) turn() (meter.Usage, error) {
	if s.run == nil {
		return meter.Usage{}, nil
	}
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return meter.Usage{}, err
		}
	}
	return s.run()
}

// inTurns lets two sides take turns, as A B B A, so that neither has the better
// half of a machine that grows warm or busy. The first pair, unmeasured, warms
// the caches of both; it is left out where warm is false.
func (l *lab) inTurns(warm bool, ours, theirs side) (mine, other []meter.Usage, err error) {
	first := 0
	if warm {
		first = -1
	}
	for i := first; i < l.pairs; i++ {
		var took [2]meter.Usage
		order := []int{0, 1}
		if i%2 != 0 {
			order = []int{1, 0}
		}
		for _, who := range order {
			if took[who], err = []side{ours, theirs}[who].turn(); err != nil {
				return nil, nil, err
			}
		}
		if i < 0 {
			continue
		}
		if mine = append(mine, took[0]); theirs.run != nil {
			other = append(other, took[1])
		}
	}
	return mine, other, nil
}

// bed is a place to measure in: a data directory with its own embedded
// containerd, and a working directory with a manifest.
type bed struct {
	*lab
	data, work string
	together   bool // commands are watched, which short ones would notice
}

func (l *lab) newBed() (*bed, error) {
	b := &bed{lab: l}
	var err, err2 error
	b.data, err = os.MkdirTemp("", "bench-data")
	b.work, err2 = os.MkdirTemp("", "bench-work")
	return b, errors.Join(err, err2, b.reset())
}

// reset empties the world and forgets the state. The world is in memory, and what was
// there besides is moved aside until the end: on ext4 making files after thousands were
// removed takes several times as long for minutes, and that is not what is to be measured.
func (b *bed) reset() error {
	old, err := os.MkdirTemp(b.data, "old-")
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(b.work, "deployster.state.json*"))
	for _, path := range append(left, filepath.Join(b.work, ".deployster/runs")) {
		if gone := os.Rename(path, filepath.Join(old, filepath.Base(path))); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	world := filepath.Join(b.work, "world")
	return errors.Join(err, unmount(world), os.MkdirAll(world, 0o755), unix.Mount("tmpfs", world, "tmpfs", 0, "mode=0755"))
}

// unmount unmounts a directory, which may be in use or none.
func unmount(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}

// sibling is another working directory of the same data directory.
func (b *bed) sibling() (*bed, error) {
	work, err := os.MkdirTemp("", "bench-work")
	other := *b
	other.work = work
	return &other, errors.Join(err, other.reset())
}

// closeWork removes the working directory.
func (b *bed) closeWork() error {
	return errors.Join(unmount(filepath.Join(b.work, "world")), os.RemoveAll(b.work))
}

// close removes everything. A server ends when its data directory is gone, and may take a
// minute to remove its containers, which would be left behind if it were ended before.
func (b *bed) close() error {
	err := errors.Join(b.closeWork(), os.RemoveAll(b.data))
	for end := time.Now().Add(2 * time.Minute); len(meter.Servers()) > 0 && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
		meter.Work() // takes in what has ended
	}
	for _, pid := range meter.Servers() {
		err = errors.Join(err, fmt.Errorf("the containerd %d has not ended", pid))
	}
	return err
}

// write makes files of the working directory.
func (b *bed) write(files map[string][]byte) error {
	var err error
	for name, content := range files {
		path := filepath.Join(b.work, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755))
	}
	return err
}

// deployster is a command of ours here. A server of its own stays between the
// turns, however long those of the others take.
func (b *bed) deployster(args ...string) meter.Command {
	return meter.Command{Dir: b.work, Env: []string{"DEPLOYSTER_DATA_DIR=" + b.data, "DEPLOYSTER_IDLE_EXIT=1h"},
		Args: append([]string{b.tool}, args...)}
}

// do runs a command of ours, which is not measured.
func (b *bed) do(ctx context.Context, args ...string) error {
	_, err := b.meter.Run(ctx, b.deployster(args...))
	return err
}

// alone are our commands that need no containerd, whether or not it runs.
var alone = []string{"version", "validate", "show"}

// ours is a command of ours as a side.
func (b *bed) ours(ctx context.Context, prepare func() error, args ...string) side {
	return side{prepare, func() (meter.Usage, error) {
		c := b.deployster(args...)
		c.Together = b.together
		u, err := b.meter.Run(ctx, c)
		if !slices.Contains(alone, args[0]) {
			u.Server = meter.ServersPeak()
		}
		return u, err
	}}
}

// ownRunc is the runc that was built beside the tool, "runc" when the machine's
// is new enough.
func (l *lab) ownRunc() string {
	path := filepath.Join(filepath.Dir(l.tool), "runc")
	if _, err := os.Stat(path); err != nil {
		return "runc"
	}
	return path
}

// static builds a program of this module for an image.
func static(ctx context.Context, pkg, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", pkg, err, out)
	}
	return nil
}
