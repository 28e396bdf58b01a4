package parallel

import (
	"runtime"
	"sync"
	"testing"
)

// A panic comes back to whoever waits.
func TestApart_PassesAPanicToItsCaller(t *testing.T) {
	defer func() {
		if p := recover(); p != "here" {
			t.Errorf("%v", p)
		}
	}()
	Apart(func() { panic("here") })
}

// deep needs much of a stack.
func deep(n int) int {
	var large [200]int
	if n == 0 {
		return large[0]
	}
	large[n%200] = n
	return deep(n-1) + large[n%100]
}

// Those that wait afterwards keep none of the stack that they needed before.
func TestApart_LeavesASmallStack(t *testing.T) {
	const many = 1000
	each := func(run func(func())) uint64 {
		stop, ready := make(chan struct{}), sync.WaitGroup{}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var ended sync.WaitGroup
		for range many {
			ready.Add(1)
			ended.Go(func() {
				run(func() { deep(20) })
				ready.Done()
				<-stop
			})
		}
		ready.Wait()
		runtime.ReadMemStats(&after)
		close(stop)
		ended.Wait()
		return (after.StackInuse - before.StackInuse) / many
	}
	if got := each(Apart); got > 8<<10 {
		t.Errorf("%d bytes", got)
	}
	if got := each(func(f func()) { f() }); got < 32<<10 {
		t.Errorf("%d bytes of those that do not run it apart: this test shows nothing", got)
	}
}
