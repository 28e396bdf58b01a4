package protocol

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// Watcher is implemented by types that report changes, so that deployster reads their
// resources only after a change.
type Watcher[C, S any] interface {
	// Watch reports changes until ctx ends. With the first call of tell it reports that it
	// watches from now on: it must report every later change. Each further call reports
	// that the resource may have changed; Read then finds out how. detail is for people,
	// and may be "". Any goroutine may call tell. A superfluous event does no harm.
	//
	// A worker runs one Watch for each resource, all concurrently: open a scarce resource,
	// such as inotify, once for all of them.
	Watch(ctx context.Context, c *Call[C, S], tell func(detail string)) error
}

// maxTold is how much of a detail is sent, in bytes: a line may have 16 KiB.
const maxTold = 2 << 10

// watch prints changes until stdin or ctx ends.
func (s server[C, S]) watch(ctx context.Context, p Process, watcher Watcher[C, S]) error {
	watching, end := ctx, func() {}
	if _, whole := p.Stdin.(interface{ Len() int }); !whole { // otherwise it runs in a worker, which cancels ctx
		watching, end = context.WithCancel(ctx)
		defer end()
		in := bufio.NewReader(p.Stdin)
		line, err := readLine(in)
		if err != nil && len(line) == 0 {
			return fmt.Errorf("stdin ended before the first line: %w", err)
		}
		p.Stdin = bytes.NewReader(line)
		go func() {
			_, _ = io.Copy(io.Discard, in) // no more input is expected, only the end
			end()
		}()
	}
	var c *Call[C, S]
	var err error
	if apart(func() { c, err = s.call(p) }); err != nil {
		return err
	}
	var mu sync.Mutex
	err = watcher.Watch(watching, c, func(detail string) {
		mu.Lock()
		defer mu.Unlock()
		apart(func() {
			if writeAnswer(p.Stdout, WatchEvent{Detail: shortened(detail)}) != nil {
				end() // nobody reads stdout any more
			}
		})
	})
	if err == nil && watching.Err() == nil {
		return errors.New("it stopped watching too early")
	}
	if ctx.Err() == nil && watching.Err() != nil {
		return nil // stdin has ended: an error of Watch does not count
	}
	return err
}

// shortened returns the beginning of a detail, in whole characters.
func shortened(detail string) string {
	if len(detail) <= maxTold {
		return detail
	}
	n := maxTold
	for n > 0 && !utf8.RuneStart(detail[n]) {
		n--
	}
	return detail[:n]
}

// apart runs f on a goroutine of its own, and waits for its end. A worker has a goroutine for
// each watch, which waits for months: what is done before it waits must not leave it a large stack.
func apart(f func()) {
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		f()
	}()
	if v := <-panicked; v != nil {
		panic(v) // as it would have been without the goroutine
	}
}
