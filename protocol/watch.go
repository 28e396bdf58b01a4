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

// Watcher is implemented by types that tell of changes, so that they are looked at when
// there is a reason to.
type Watcher[C, S any] interface {
	// Watch tells of changes until ctx ends. The first call of tell says that it
	// watches from now on: whatever happens after that must be told. Each further
	// one says that the resource may have changed; how, Read finds out. detail is
	// for people, and may be "". tell may be called from any goroutine. An event
	// too many does no harm.
	//
	// In a worker there is one Watch for each resource, all at the same time: what
	// is scarce, such as inotify, is opened once for all.
	Watch(ctx context.Context, c *Call[C, S], tell func(detail string)) error
}

// maxTold is how much of a detail is sent, in bytes: a line has 16 KiB at most.
const maxTold = 2 << 10

// watch tells of changes until stdin ends, or ctx.
func (s server[C, S]) watch(ctx context.Context, p Process, watcher Watcher[C, S]) error {
	watching, end := context.WithCancel(ctx)
	defer end()
	if _, whole := p.Stdin.(interface{ Len() int }); !whole { // else it is of a worker, which cancels
		in := bufio.NewReader(p.Stdin)
		line, err := readLine(in)
		if err != nil && len(line) == 0 {
			return fmt.Errorf("stdin ended before the line that says what to watch: %w", err)
		}
		p.Stdin = bytes.NewReader(line)
		go func() {
			_, _ = io.Copy(io.Discard, in) // nothing comes any more, but the end
			end()
		}()
	}
	c, err := s.call(p)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	err = watcher.Watch(watching, c, func(detail string) {
		mu.Lock()
		defer mu.Unlock()
		if writeAnswer(p.Stdout, WatchEvent{Detail: shortened(detail)}) != nil {
			end() // nobody listens any more
		}
	})
	if err == nil && watching.Err() == nil {
		return errors.New("it watches no more, though nobody asked it to end")
	}
	if ctx.Err() == nil && watching.Err() != nil {
		return nil // stdin has ended, whatever Watch makes of that
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
