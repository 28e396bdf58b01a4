package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

func says(is bool) *bool { return &is }

// queue is a worker that carries out one request at a time, for ten seconds. The others
// wait, and say so.
func queue() *image {
	var cancels sync.Map
	turn := make(chan struct{}, 1)
	return newImage(func(ctx context.Context, r request) int {
		mine, _ := cancels.LoadOrStore(r.ID, make(chan struct{}))
		cancel := mine.(chan struct{})
		if r.Cancel {
			close(cancel)
			return -1
		}
		select {
		case turn <- struct{}{}:
		default:
			r.reply(protocol.WorkerReply{ID: r.ID, Waits: says(true)})
			select {
			case turn <- struct{}{}:
				r.reply(protocol.WorkerReply{ID: r.ID, Waits: says(false)})
			case <-cancel:
				r.reply(protocol.WorkerReply{ID: r.ID, Exit: exit(143)})
				return -1
			}
		}
		select {
		case <-time.After(10 * time.Second):
			r.reply(protocol.WorkerReply{ID: r.ID, Exit: exit(0)})
		case <-cancel:
			r.reply(protocol.WorkerReply{ID: r.ID, Exit: exit(143)})
		}
		<-turn
		return -1
	})
}

// The time of a request counts from when it is begun, and not while others are at work.
func TestPool_TimeCountsFromTheBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		im := queue()
		p := im.pool(t, 1)
		ends := make(chan error, 5)
		for range cap(ends) {
			go func() {
				s := im.spec(runner.Action, "act")
				s.Timeout = 15 * time.Second
				_, err := p.Run(t.Context(), s)
				ends <- err
			}()
		}
		for range cap(ends) {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
		s := im.spec(runner.Action, "act")
		s.Timeout = 5 * time.Second
		go func() { _, err := p.Run(t.Context(), im.spec(runner.Action, "act")); ends <- err }()
		time.Sleep(time.Second)
		start := time.Now()
		_, err := p.Run(t.Context(), s)
		if timeout, ok := errors.AsType[*runner.TimeoutError](err); !ok || timeout.Killed || time.Since(start) != 14*time.Second {
			t.Errorf("begun after 9s, with 5s from then on: %v after %s", err, time.Since(start))
		}
		if err := <-ends; err != nil {
			t.Error(err)
		}
	})
}

// A request that is withdrawn while it waits was never begun: nobody is told of an end, and
// the worker goes on.
func TestPool_WithdrawsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		im := queue()
		p := im.pool(t, 1)
		first, told := make(chan error, 1), 0
		go func() { _, err := p.Run(t.Context(), im.spec(runner.Action, "act")); first <- err }()
		time.Sleep(time.Second)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		s := im.spec(runner.Action, "act")
		s.ID, s.Ended = "k", func(runner.Result, error) error { told++; return nil }
		if _, err := p.Run(ctx, s); !errors.Is(err, context.DeadlineExceeded) || told != 0 {
			t.Errorf("%v, told %d times", err, told)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if _, err := p.Run(t.Context(), s); err != nil || told != 1 || im.workers.Load() != 1 {
			t.Errorf("%v, told %d times, %d workers", err, told, im.workers.Load())
		}
	})
}

// A worker that begins nothing, and says that all waits, costs invocations their time.
func TestPool_NothingIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		im := newImage(func(_ context.Context, r request) int {
			r.reply(protocol.WorkerReply{ID: r.ID, Waits: says(!r.Cancel)})
			return -1
		})
		s := im.spec(runner.Query, "state")
		s.Timeout = 5 * time.Second
		start := time.Now()
		_, err := im.pool(t, 1).Run(t.Context(), s)
		if timeout, ok := errors.AsType[*runner.TimeoutError](err); !ok || !timeout.Killed || time.Since(start) > 6*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}
