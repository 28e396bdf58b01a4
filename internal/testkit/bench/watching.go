package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// memoryNow is the memory that a process has now, in MiB.
func memoryNow(pid int) int64 { return meter.Memory(pid) >> 10 }

// How long is waited for what a watch is to do.
const (
	watchPatience = 3 * time.Minute
	watchPause    = 700 * time.Millisecond // between two changes: the repair before is over
)

// watching is a watch that runs on a bed.
type watching struct {
	bed    *bed
	flags  []string
	cmd    *exec.Cmd
	out    string
	began  time.Time
	checks time.Duration // until it watched
}

// begin starts a watch, and waits until it reports that it watches.
func (b *bed) begin(ctx context.Context, flags ...string) (*watching, error) {
	w := &watching{bed: b, flags: flags, out: filepath.Join(b.data, "watch.out"), began: time.Now()}
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	if err := w.awaitOutput(ctx, "watching "); err != nil {
		return nil, errors.Join(err, w.end())
	}
	w.checks = time.Since(w.began)
	return w, nil
}

func (w *watching) pid() int { return w.cmd.Process.Pid }

func (w *watching) output() string {
	text, _ := os.ReadFile(w.out) // it may not have printed anything yet
	return string(text)
}

// awaitOutput waits until the watch has printed a text.
func (w *watching) awaitOutput(ctx context.Context, text string) error {
	return w.await(ctx, func() bool { return strings.Contains(w.output(), text) })
}

// start starts the process.
func (w *watching) start(ctx context.Context) error {
	out, err := os.Create(w.out)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // its child has it
	c := w.bed.deployster(append([]string{"watch", "-metrics", "unix:" + w.metrics()}, w.flags...)...)
	w.cmd = exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	w.cmd.Dir, w.cmd.Env, w.cmd.Stdout, w.cmd.Stderr = c.Dir, append(os.Environ(), c.Env...), out, out
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
		return fmt.Errorf("watch: %w: %s", err, shorten(w.output()))
	}
	return nil
}

// await waits until something is so.
func (w *watching) await(ctx context.Context, is func() bool) error {
	for deadline := time.Now().Add(watchPatience); !is(); time.Sleep(500 * time.Microsecond) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			text := w.output()
			return fmt.Errorf("the watch did not do it in %s: %s", watchPatience, text[max(0, len(text)-1000):])
		}
	}
	return nil
}

// remove deletes the file of a resource; there is whether it is there again.
func (w *watching) remove(i int) (there func() bool, err error) {
	path := filepath.Join(w.bed.work, "world", fmt.Sprintf("disk-%d", i))
	return func() bool { _, err := os.Stat(path); return err == nil }, os.Remove(path)
}

// change deletes the file of a resource, and gives how long it took until it was there
// again.
func (w *watching) change(ctx context.Context, i int) (time.Duration, error) {
	begin := time.Now()
	there, err := w.remove(i)
	if err != nil {
		return 0, err
	}
	err = w.await(ctx, there)
	took := time.Since(begin)
	time.Sleep(watchPause)
	return took, err
}

// changes deletes the files of the first n resources one after the other, does not wait
// for their repairs meanwhile, and gives how long each took. It ends early when done is
// closed.
func (w *watching) changes(ctx context.Context, n int, every time.Duration, done <-chan struct{}) (took []meter.Usage, err error) {
	took = make([]meter.Usage, n)
	failed := make([]error, n)
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range n {
		select {
		case <-tick.C:
		case <-done:
			all.Wait()
			return took[:i], errors.Join(failed...)
		}
		begin := time.Now()
		there, err := w.remove(i)
		if err != nil {
			return nil, err
		}
		all.Go(func() {
			failed[i] = w.await(ctx, there)
			took[i].Wall = time.Since(begin)
		})
	}
	all.Wait()
	return took, errors.Join(failed...)
}

// measure measures what the watch and all that runs on its behalf take in a time.
func (w *watching) measure(ctx context.Context, d time.Duration) (meter.Usage, error) {
	before, begin := meter.Settle(), time.Now()
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return meter.Usage{}, context.Cause(ctx)
	}
	u := meter.Usage{Wall: time.Since(begin), Work: meter.Work() - before, Memory: memoryNow(w.pid()), Together: memoryOfAll()}
	for _, pid := range meter.Servers() {
		u.Server += memoryNow(pid)
	}
	return u, nil
}

// memoryOfAll is the memory without files of all that descends from this process, in MiB.
func memoryOfAll() (all int64) {
	for pid := range meter.Descendants() {
		all += meter.Anonymous(pid)
	}
	return all >> 10
}

// restart kills the watch, breaks something and starts it again. It gives how long it
// took until it watched, and until that was repaired.
func (w *watching) restart(ctx context.Context, i int) (watches, valid time.Duration, err error) {
	if err := w.cmd.Process.Kill(); err != nil {
		return 0, 0, err
	}
	_ = w.cmd.Wait() // it was killed
	there, err := w.remove(i)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := w.start(ctx); err != nil {
		return 0, 0, err
	}
	err = w.await(ctx, func() bool {
		if watches == 0 && strings.Contains(w.output(), "watching ") {
			watches = time.Since(begin)
		}
		if valid == 0 && there() {
			valid = time.Since(begin)
		}
		return watches > 0 && valid > 0
	})
	return watches, valid, err
}

func (w *watching) metrics() string { return filepath.Join(w.bed.data, "metrics") }

// counted adds up a metric of the watch.
func (w *watching) counted(name string) (sum float64, err error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", w.metrics())
		}}}
	answer, err := client.Get("http://watch/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(text)) {
		series, value, _ := strings.Cut(strings.TrimSpace(l), " ")
		if got, _, _ := strings.Cut(series, "{"); got != "deployster_watch_"+name {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
