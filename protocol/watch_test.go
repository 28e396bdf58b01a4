package protocol_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/protocol"
)

// watching is a type that tells of what a test says.
type watching struct {
	*disks
	news chan string
	err  chan error
}

func (w watching) Watch(ctx context.Context, c *protocol.Call[diskConfig, diskState], tell func(string)) error {
	tell("")
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case detail := <-w.news:
			tell(c.Config.Name + detail)
		case err := <-w.err:
			return err
		}
	}
}

func newWatching() watching { return watching{newDisks(), make(chan string), make(chan error)} }

// out is a stdout that can be read while it is written.
type out struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *out) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *out) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// A type that watches says so in init, tells until stdin ends, and then ends well.
func TestWatch_ReportsUntilStdinEnds(t *testing.T) {
	t.Parallel()
	w := newWatching()
	if _, init, _ := ask(t, w, protocol.About{}, initInput); !strings.Contains(init, `"watch_action":{"args":["watch"]}`) {
		t.Errorf("init: %s", init)
	}
	if _, init, _ := ask(t, newDisks(), protocol.About{}, initInput); strings.Contains(init, "watch_action") {
		t.Errorf("init of a type that does not watch: %s", init)
	}
	in, stdin := io.Pipe()
	stdout, done := &out{}, make(chan int, 1)
	go func() {
		done <- protocol.Run(t.Context(), w, protocol.About{},
			protocol.Process{Args: []string{"watch"}, Stdin: in, Stdout: stdout, Stderr: io.Discard})
	}()
	_, _ = fmt.Fprintln(stdin, input(`{"name":"x"}`))
	w.news <- " was resized by <somebody>"
	w.news <- strings.Repeat("ü", 10_000)
	_ = stdin.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != 3 || lines[0] != "{}" || lines[1] != `{"detail":"x was resized by <somebody>"}` {
		t.Errorf("%.200q", lines)
	}
	if n := len(lines[2]); n > 3<<10 || strings.Contains(lines[2], "\ufffd") {
		t.Errorf("a long detail has %d bytes: %.50q", n, lines[2])
	}
}

// An end of its own is a failure, with or without an error.
func TestWatch_FailsWhenItEndsByItself(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"too early": nil, "too many files": errors.New("too many files")} {
		w := newWatching()
		in, stdin := io.Pipe()
		var stderr bytes.Buffer
		go func() {
			_, _ = fmt.Fprintln(stdin, input(`{"name":"x"}`))
			w.err <- err
		}()
		code := protocol.Run(t.Context(), w, protocol.About{}, protocol.Process{Args: []string{"watch"}, Stdin: in, Stdout: io.Discard, Stderr: &stderr})
		if code == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: exit code %d, %s", err, code, &stderr)
		}
		_ = stdin.Close()
	}
}

// A worker watches any number beside what it answers, ends one when that is asked, and
// all when its stdin ends.
func TestWorker_WatchesMany(t *testing.T) {
	t.Parallel()
	const n = 400 // more than a worker takes in of all else
	w := newWatching()
	inR, inW := io.Pipe()
	stdout, done := &out{}, make(chan int, 1)
	go func() {
		done <- protocol.Run(t.Context(), w, protocol.About{Worker: true},
			protocol.Process{Args: []string{"worker"}, Stdin: inR, Stdout: stdout, Stderr: io.Discard})
	}()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(inW, format+"\n", args...) }
	for id := range n {
		say(`{"id":%d,"args":["watch"],"stdin":%s}`, id+1, input(`{"name":"x"}`))
	}
	say(`{"id":%d,"args":["state"],"stdin":%s}`, n+1, input(`{"name":"x"}`))
	await := func(what string, count int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); strings.Count(stdout.String(), what) < count; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d of %d times %s", strings.Count(stdout.String(), what), count, what)
			}
		}
	}
	await(`"stdout":"{}\n"`, n)
	await(fmt.Sprintf(`{"id":%d,"exit":0}`, n+1), 1)
	say(`{"id":7,"cancel":true}`)
	await(`{"id":7,"exit":143}`, 1)
	w.news <- " has changed"
	await("has changed", 1)
	_ = inW.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := strings.Count(stdout.String(), `"exit"`); got != n+1 {
		t.Errorf("%d ends", got)
	}
}

// A worker that watches much is small: each watch waits with a stack of 4 KiB, whatever was done before it waits.
func TestWatch_WaitsWithASmallStack(t *testing.T) {
	const many = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in, stdin := io.Pipe()
	stdout, done := &out{}, make(chan int, 1)
	go func() {
		done <- protocol.Run(t.Context(), newWatching(), protocol.About{Worker: true},
			protocol.Process{Args: []string{"worker"}, Stdin: in, Stdout: stdout, Stderr: io.Discard})
	}()
	for i := range many {
		_, _ = fmt.Fprintf(stdin, "{\"id\":%d,\"args\":[\"watch\"],\"stdin\":%s}\n", i+1, input(`{"name":"x"}`))
	}
	for late := time.After(time.Minute); strings.Count(stdout.String(), "\n") < many; {
		select {
		case <-late:
			t.Fatal(stdout.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := (int64(after.StackInuse) - int64(before.StackInuse)) / many; got > 6<<10 {
		t.Errorf("%d bytes of stack for each watch", got)
	}
	_ = stdin.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
