package limits

import (
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/parallel"
)

// What waits is given its time, and no more than that; what works is not.
func TestGuard_CountsWork(t *testing.T) {
	const work = 300 * time.Millisecond
	if d := guardFor(&parallel.Pool{}, func() { time.Sleep(3 * work) }, work, time.Hour); d != nil {
		t.Error("what waits was stopped:", d)
	}
	hang := make(chan struct{})
	defer close(hang)
	if d := guardFor(&parallel.Pool{}, func() { <-hang }, work, 2*work); d == nil || d.Summary != "The manifest takes too long" {
		t.Error("what waits without end was not stopped:", d)
	}
	var stop atomic.Bool
	defer stop.Store(true)
	endless := func() {
		for !stop.Load() {
		}
	}
	if d := guardFor(&parallel.Pool{}, endless, work, time.Hour); d == nil || d.Summary != "The manifest takes too long" {
		t.Error("what works without end was not stopped:", d)
	}
}
