package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
	"deployster/protocol"
)

// recorder notes which requests were recorded before they were written to a worker.
type recorder struct {
	runner.Launcher
	refuses string // the ID of an action that cannot be recorded

	mu    sync.Mutex
	asked []int64
}

type recorded struct {
	runner.Process
	r *recorder
}

func (r *recorder) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	p, err := r.Launcher.Launch(ctx, s)
	return &recorded{p, r}, err
}

func (p *recorded) Asked(request int64, s runner.Spec) error {
	if s.ID == p.r.refuses {
		return errors.New("the disk is full")
	}
	p.r.mu.Lock()
	p.r.asked = append(p.r.asked, request)
	p.r.mu.Unlock()
	return p.Process.Asked(request, s)
}

func (r *recorder) has(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.asked, id)
}

// recording returns an image that replies to batches, with what was wrong with their requests, and
// a pool that has it recorded.
func recording(t *testing.T, refuses string) (im *image, r *recorder, p *worker.Pool) {
	t.Helper()
	var mu sync.Mutex
	used := map[int64]bool{}
	r = &recorder{refuses: refuses}
	im = newImage(func(_ context.Context, one request) int {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range one.Batch {
			if !r.has(m.ID) || used[m.ID] {
				t.Errorf("the request %d was not recorded, or has a number that was used: %v", m.ID, used)
			}
			used[m.ID] = true
			one.reply(protocol.WorkerReply{ID: m.ID, Begun: true})
			one.reply(protocol.WorkerReply{ID: m.ID, Exit: exit(0)})
		}
		return -1
	})
	r.Launcher = im
	p = worker.New(worker.Options{Runner: im, Launcher: r, Max: 1, Grace: 2 * time.Second})
	t.Cleanup(p.Close)
	return im, r, p
}

// Whoever finds the worker after a crash finds each of its actions, and no other by the same number.
func TestBatch_EachMemberIsRecordedFirst(t *testing.T) {
	t.Parallel()
	im, r, p := recording(t, "")
	for range 3 {
		for _, e := range runBatch(t.Context(), im, p, 4, 4) {
			if e.err != nil || !e.recorded {
				t.Errorf("got %+v, want a recorded end", e)
			}
		}
	}
	if len(r.asked) != 12 {
		t.Errorf("%d requests were recorded, want 12", len(r.asked))
	}
}

// A member that cannot be recorded is not begun, and keeps no other from it.
func TestBatch_MemberThatIsNotRecordedIsLeftOut(t *testing.T) {
	t.Parallel()
	im, _, p := recording(t, "key-1")
	for i, e := range runBatch(t.Context(), im, p, 4, 4) {
		if left := i == 1; left != (e.err != nil) || left == e.recorded {
			t.Errorf("member %d: %+v", i, e)
		}
	}
}
