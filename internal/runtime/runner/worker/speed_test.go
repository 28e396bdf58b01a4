package worker

import (
	"testing"
	"time"
)

// A busy worker is slow only when it completes little.
func TestWorker_Slow(t *testing.T) {
	t.Parallel()
	begin := time.Now().Add(-time.Hour)
	w := &worker{open: map[int64]*request{}, speed: speed{since: begin}}
	for i := range int64(80) {
		w.open[i] = &request{since: begin}
	}
	for _, c := range []struct {
		answered, perSecond int
		slow                bool
	}{
		{0, 0, true},
		{10, 200, true},     // a new one would wait for 400 ms
		{25, 500, false},    // and now for 160
		{19, 380, true},     // one too few
		{500, 10000, false}, // what is slow here is not the worker
	} {
		now := time.Now()
		w.speed = speed{since: now.Add(-slowAfter), done: c.answered}
		if rate := w.speed.at(now); int(rate+0.5) != c.perSecond {
			t.Errorf("%d answers in %s are %g a second", c.answered, slowAfter, rate)
		}
		if rate := w.speed.at(now.Add(slowAfter / 2)); int(rate+0.5) != c.perSecond {
			t.Errorf("a moment later %g are taken for it", rate)
		}
		if slow := float64(len(w.open)) > w.speed.rate*slowWait.Seconds(); slow != c.slow {
			t.Errorf("with %d answers in %s it is slow: %t", c.answered, slowAfter, slow)
		}
	}
	w.speed = speed{since: begin}
	if !w.slow() {
		t.Error("one that says nothing is not slow")
	}
	clear(w.open)
	w.open[1] = &request{since: begin}
	if w.slow() {
		t.Error("one that has little to do is slow")
	}
}
