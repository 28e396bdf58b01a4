package router

import (
	"context"
	"fmt"
	"time"
)

// losses counts the lost connections of one request, without those that could not be made.
type losses struct {
	count  int
	pause  time.Duration // before the next try
	waited time.Duration // in all
}

// wait waits before a request whose connection was lost is sent again: the first time not
// at all, and then with growing pauses, as before a host is dialled again. It returns an
// error when ctx has ended, or when the pauses in all exceed the host's patience.
func (l *losses) wait(ctx context.Context, h *host, lost error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l.count++
	if l.waited += l.pause; l.waited > h.o.Patience {
		return h.explain(fmt.Errorf("%w, %d times one after the other", lost, l.count))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(l.pause):
	}
	l.pause = nextPause(l.pause)
	return nil
}

// nextPause returns the pause before the next try, given the pause before the last one.
func nextPause(before time.Duration) time.Duration {
	return max(time.Second, min(2*before, 16*time.Second))
}
