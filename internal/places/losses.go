package places

import (
	"context"
	"fmt"
	"time"
)

// losses are those of one request, over connections that could all be made.
type losses struct {
	count  int
	pause  time.Duration // before the next try
	waited time.Duration // in all
}

// wait waits before a request that was lost is made again: not the first time, and then
// longer and longer, as before a host is reached again. Its error says that ctx has ended,
// or that the pauses would come to more than the host's patience.
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

// nextPause is how long is waited after a pause that was not long enough.
func nextPause(before time.Duration) time.Duration {
	return max(time.Second, min(2*before, 16*time.Second))
}
