package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deployster/containerd"
)

// bed is a place to measure in: a data directory with the embedded containerd
// and one image, and a working directory with a manifest.
type bed struct {
	tool, data, work string
}

// thing is the type that is run: like the one of the tests, it keeps its
// config in a file. It is small, so that the tool's own cost shows.
const thing = `#!/bin/sh
in=$(cat)
name=${in#*\"name\":\"}
file=/world/${name%%\"*}
case "$1" in
"") echo '{"protocol":2,"plugs":{"world":{"container_path":"/world","writable":true}},"state_action":{"args":["state"]}}' ;;
state) [ -e "$file" ] && echo '{"status":"VALID","state":{}}' || echo '{"status":"STALE","actions":[{"name":"make","args":["make"]}]}' ;;
make) : >"$file" ;;
esac
`

// newBed makes one, with a manifest of n independent resources.
func newBed(ctx context.Context, tool string, n int) (*bed, error) {
	data, err := os.MkdirTemp("", "bench-data")
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "bench-work")
	b := &bed{tool: tool, data: data, work: work}
	if err != nil {
		return b, err
	}
	var manifest strings.Builder
	manifest.WriteString("plug \"world\" {\n  path = \"world\"\n}\n")
	for i := range n {
		fmt.Fprintf(&manifest, "resource \"r%03d\" {\n  type   = \"bench/thing:1\"\n  config = {}\n}\n", i)
	}
	busybox, err := os.ReadFile("/bin/busybox")
	for name, content := range map[string][]byte{"main.hcl": []byte(manifest.String()), "image/type": []byte(thing), "image/bin/busybox": busybox} {
		path := filepath.Join(work, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755))
	}
	for _, applet := range []string{"sh", "cat"} {
		err = errors.Join(err, os.Symlink("busybox", filepath.Join(work, "image/bin", applet)))
	}
	if err = errors.Join(err, b.reset()); err != nil {
		return b, err
	}
	return b, b.run(ctx, "image", "pack", "-t", "bench/thing:1", "-entrypoint", "/type", "image")
}

// reset empties the world and forgets the state.
func (b *bed) reset() error {
	world := filepath.Join(b.work, "world")
	return errors.Join(os.RemoveAll(world), os.Mkdir(world, 0o755), os.RemoveAll(filepath.Join(b.work, "deployster.state.json")))
}

// close removes everything; the server ends when its data directory is gone.
func (b *bed) close() error { return errors.Join(os.RemoveAll(b.data), os.RemoveAll(b.work)) }

// run runs the tool.
func (b *bed) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, b.tool, args...)
	cmd.Dir, cmd.Env = b.work, append(os.Environ(), "DEPLOYSTER_DATA_DIR="+b.data)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("deployster %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// timed says how long something took.
func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

// versionRow measures the start of the process.
func versionRow(ctx context.Context, tool string) (row, error) {
	var times sample
	for range 30 {
		took, err := timed(exec.CommandContext(ctx, tool, "version").Run)
		if err != nil {
			return row{}, err
		}
		times = append(times, took)
	}
	return row{"`deployster version`", times.String(), "", "", "30ms"}, nil
}

// bootRow measures the first command on a machine, which boots the embedded
// containerd, beside the same command when it runs already.
func bootRow(ctx context.Context, tool string) (row, error) {
	var cold, warm, boot sample
	for range 15 {
		b := &bed{tool: tool}
		var err error
		if b.data, err = os.MkdirTemp("", "bench-data"); err != nil {
			return row{}, err
		}
		b.work = b.data + "/.."
		first, err := timed(func() error { return b.run(ctx, "image", "ls") })
		if err != nil {
			return row{}, err
		}
		second, err := timed(func() error { return b.run(ctx, "image", "ls") })
		if err = errors.Join(err, os.RemoveAll(b.data)); err != nil {
			return row{}, err
		}
		cold, warm, boot = append(cold, first), append(warm, second), append(boot, first-second)
	}
	return row{"first `image ls` on a machine: boots containerd", cold.String(), "again: " + warm.String(), "boot: " + boot.String(), "boot 150ms"}, nil
}

// overheadRow measures a whole command over n resources, beside a bare client
// that makes the same runs with the same input, in turns.
func overheadRow(ctx context.Context, tool, command string, n, parallel, pairs int) (r row, err error) {
	b, err := newBed(ctx, tool, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return row{}, err
	}
	// A connection of our own keeps the server there between the turns.
	runtime, err := containerd.Open(ctx, containerd.Options{DataDir: b.data, Runc: ownRunc()})
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	image, err := runtime.Resolve(ctx, "bench/thing:1")
	if err != nil {
		return row{}, err
	}
	bare, err := newBare(b, image.Digest)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	args := []string{command, "-parallelism", fmt.Sprint(parallel)}
	steps := []string{"state"}
	if command == "apply" {
		args, steps = append(args, "-auto-approve"), []string{"state", "state", "make", "state"}
	}
	ours := func() error { return b.run(ctx, args...) }
	theirs := func() error { return bare.loop(ctx, n, parallel, steps) }
	var ourTimes, theirTimes sample
	var ratios []float64
	for i := range pairs + 1 {
		var took [2]time.Duration
		order := []int{i % 2, 1 - i%2}
		for _, who := range order {
			if err := b.reset(); err != nil {
				return row{}, err
			}
			if took[who], err = timed([]func() error{ours, theirs}[who]); err != nil {
				return row{}, err
			}
		}
		if i == 0 {
			continue // warming up
		}
		ourTimes, theirTimes = append(ourTimes, took[0]), append(theirTimes, took[1])
		ratios = append(ratios, float64(took[0])/float64(took[1]))
	}
	slices.Sort(ratios)
	return row{fmt.Sprintf("`%s` of %d resources, %d at a time: %d container runs", command, n, parallel, 1+n*len(steps)),
		ourTimes.String(), "bare loop: " + theirTimes.String(),
		fmt.Sprintf("%.2f (%.2f to %.2f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1]), "1.10"}, nil
}

// ownRunc is the runc that was built beside the tool, "" when the machine's is
// new enough.
func ownRunc() string {
	path, err := filepath.Abs("bin/runc")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// input is the stdin that the tool would send.
func input(name, step string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"name":%q,"type":"bench/thing:1","version":"0.1.0","verbose":false,"config":{},"intent":"present"`, name)
	if step == "make" {
		b.WriteString(`,"action":"make","staleState":{}`)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
