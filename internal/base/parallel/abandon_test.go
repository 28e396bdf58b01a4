package parallel

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func always() bool { return true }

func TestPool_RunOrAbandon(t *testing.T) {
	var p Pool
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 200 {
				got := -1
				if !p.RunOrAbandon(func() { got = i }, time.Hour, always) || got != i {
					t.Errorf("%d came back as %d", i, got)
					return
				}
			}
		})
	}
	wait.Wait()
}

// What does not end is asked about until somebody has had enough, and keeps
// nothing else from being run.
func TestPool_RunOrAbandon_Abandons(t *testing.T) {
	var p Pool
	hang, asked := make(chan struct{}), 0
	if p.RunOrAbandon(func() { <-hang }, time.Millisecond, func() bool { asked++; return asked < 3 }) || asked != 3 {
		t.Fatal("it ended, after asking", asked)
	}
	ran := false
	if !p.RunOrAbandon(func() { ran = true }, time.Hour, always) || !ran {
		t.Fatal("nothing runs after one that was left behind")
	}
	slow := 0
	if !p.RunOrAbandon(func() { time.Sleep(20 * time.Millisecond); slow++ }, time.Millisecond, always) || slow != 1 {
		t.Fatal("what is slow was not waited for")
	}
	close(hang)
}

// Goroutines end when their pool is forgotten.
func TestPool_GoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		var p Pool
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() { p.RunOrAbandon(func() { time.Sleep(time.Millisecond) }, time.Hour, always) })
		}
		wait.Wait()
	}()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}
