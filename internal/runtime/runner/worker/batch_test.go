package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// ended is how a member of a batch ended, by what its caller got.
type ended struct {
	res      runner.Result
	err      error
	recorded bool // Spec.Ended was called: it was begun, and its end is known
}

// runBatch runs n actions as a batch of that many members.
func runBatch(ctx context.Context, im *image, p runner.Runner, n, members int) []ended {
	out := make([]ended, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s := im.spec(runner.Action, "install")
			s.ID, s.Stdin = fmt.Sprintf("key-%d", i), fmt.Appendf(nil, `{"name":"p%d"}`, i)
			s.Batch = &runner.Batch{ID: "b", Members: members}
			s.Ended = func(runner.Result, error) error { out[i].recorded = true; return nil }
			out[i].res, out[i].err = p.Run(ctx, s)
		})
	}
	wg.Wait()
	return out
}

func TestBatch_IsOneRequest(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	requests := 0
	im := newImage(func(_ context.Context, r request) int {
		mu.Lock()
		defer mu.Unlock()
		requests++
		for _, m := range r.Batch {
			r.reply(protocol.WorkerReply{ID: m.ID, Begun: true, Stdout: "done " + string(m.Stdin)})
			r.reply(protocol.WorkerReply{ID: m.ID, Exit: exit(0)})
		}
		return -1
	})
	for i, e := range runBatch(t.Context(), im, im.pool(t, 1), 20, 20) {
		if want := fmt.Sprintf(`done {"name":"p%d"}`, i); e.err != nil || string(e.res.Stdout) != want || !e.recorded {
			t.Errorf("member %d: %q, error %v, recorded %v; want %q", i, e.res.Stdout, e.err, e.recorded, want)
		}
	}
	if requests != 1 || im.cold.Load() != 0 {
		t.Errorf("%d requests and %d containers, want one request", requests, im.cold.Load())
	}
}

// Two of three members arrive: the third one has failed on its way.
func TestBatch_DoesNotWaitForeverForAMember(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		im := newImage(func(_ context.Context, r request) int {
			for _, m := range r.Batch {
				r.reply(protocol.WorkerReply{ID: m.ID, Begun: true})
				r.reply(protocol.WorkerReply{ID: m.ID, Exit: exit(len(r.Batch))})
			}
			return -1
		})
		for _, e := range runBatch(t.Context(), im, im.pool(t, 1), 2, 3) {
			if e.err != nil || e.res.ExitCode != 2 {
				t.Errorf("got %+v, want a batch of two", e)
			}
		}
	})
}

func TestBatch_MemberFailsAlone(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int {
		for i, m := range r.Batch {
			r.reply(protocol.WorkerReply{ID: m.ID, Begun: true})
			r.reply(protocol.WorkerReply{ID: m.ID, Exit: exit(i % 2)})
		}
		return -1
	})
	failed := 0
	for _, e := range runBatch(t.Context(), im, im.pool(t, 1), 4, 4) {
		failed += e.res.ExitCode
		if e.err != nil || !e.recorded {
			t.Errorf("got %+v, want a recorded end", e)
		}
	}
	if failed != 2 {
		t.Errorf("%d members failed, want 2", failed)
	}
}

func TestBatch_LostWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		begun   bool
		code    int
		unknown bool // how its members ended is unknown; otherwise they were never begun
	}{
		{"killed before it begins", false, 137, true},
		{"killed after it has begun", true, 137, true},
		{"ended well before it begins", false, 0, false},
		{"ended well after it has begun", true, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			im := newImage(func(_ context.Context, r request) int {
				for _, m := range r.Batch {
					if c.begun {
						r.reply(protocol.WorkerReply{ID: m.ID, Begun: true})
					}
				}
				return c.code
			})
			for _, e := range runBatch(t.Context(), im, im.pool(t, 1), 3, 3) {
				if e.err == nil || e.recorded || diag.Is[*runner.UnknownError](e.err) != c.unknown {
					t.Errorf("got %+v, want unknown %v", e, c.unknown)
				}
			}
		})
	}
}

func TestBatch_RefusedBeforeItsBegin(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int {
		for _, m := range r.Batch {
			r.reply(protocol.WorkerReply{ID: m.ID, Stderr: "other packages would be removed", Exit: exit(1)})
		}
		return -1
	})
	for _, e := range runBatch(t.Context(), im, im.pool(t, 1), 2, 2) {
		if e.recorded || e.res.ExitCode != 1 {
			t.Errorf("got %+v, want a member that was not begun", e)
		}
	}
}

func TestBatch_IsStoppedAsAWhole(t *testing.T) {
	t.Parallel()
	begun, cancelled := make(chan int64, 3), make(chan int64, 3)
	im := newImage(func(ctx context.Context, r request) int {
		for _, m := range r.Batch {
			r.reply(protocol.WorkerReply{ID: m.ID, Begun: true})
			begun <- m.ID
		}
		if r.Cancel {
			cancelled <- r.ID
			r.reply(protocol.WorkerReply{ID: r.ID, Exit: exit(143)})
		}
		return -1
	})
	p := im.pool(t, 1)
	// One member prints too much, which stops it.
	var wg sync.WaitGroup
	errs := make([]error, 3)
	stop, cancel := context.WithCancelCause(t.Context())
	for i := range 3 {
		ctx := t.Context()
		if i == 0 {
			ctx = stop
		}
		wg.Go(func() {
			s := im.spec(runner.Action, "install")
			s.Batch = &runner.Batch{ID: "b", Members: 3}
			_, errs[i] = p.Run(ctx, s)
		})
	}
	for range 3 {
		<-begun
	}
	cancel(errors.New("interrupted"))
	wg.Wait()
	for i, err := range errs {
		if err == nil {
			t.Errorf("member %d was not stopped", i)
		}
	}
	if len(cancelled) != 3 {
		t.Errorf("%d members were cancelled, want 3", len(cancelled))
	}
}

// Without a worker the members run one after the other.
func TestBatch_WithoutAWorkerIsNotParallel(t *testing.T) {
	t.Parallel()
	im := newImage(func(context.Context, request) int { return 1 })
	s := im.spec(runner.Query, "state")
	p := im.pool(t, 1)
	for range 3 { // the group gives up its workers
		_, _ = p.Run(t.Context(), s)
	}
	before := im.cold.Load()
	for _, e := range runBatch(t.Context(), im, p, 5, 5) {
		if e.err != nil || string(e.res.Stdout[:4]) != "cold" {
			t.Errorf("got %+v, want a container of its own", e)
		}
	}
	if n := im.cold.Load() - before; n != 5 {
		t.Errorf("%d containers, want 5", n)
	}
}
