package containerd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"deployster/internal/invoke"
)

// rounds says how often something is tried: a few times with every change, and
// as often as it takes in `make crash`.
func rounds(few, all int) int {
	if os.Getenv("DEPLOYSTER_CRASH") == "all" {
		return all
	}
	return few
}

// TestServerIsKilled kills the server again and again, at any moment, and starts
// it anew when nobody else does. Actions that run are waited for, and say truly
// how they ended, also those that end while there is no server, and those with
// the code that stands for a lost one. What is not begun yet is tried again.
func TestServerIsKilled(t *testing.T) {
	modes(t, func(t *testing.T, o Options, kill, restart func()) {
		r := open(t, o)
		dgst := packProbe(t, r)
		runs, adopted := 0, 0
		for round := range rounds(5, 100) {
			var group sync.WaitGroup
			var mu sync.Mutex
			ready := make(chan struct{}, 10)
			for i, code := range []int{255, 7, 0} {
				runs++
				group.Add(1)
				go func() {
					defer group.Done()
					told := 0
					var once sync.Once
					s := invoke.Spec{Name: fmt.Sprint(i), ID: fmt.Sprintf("%d/%d", round, i), Kind: invoke.Action, Digest: dgst, Entrypoint: "/bin/sh",
						Args:   []string{"-c", fmt.Sprintf("echo before; sleep 0.%d; echo after; exit %d", rand.IntN(9), code)},
						Ended:  func(invoke.Result, error) error { told++; return nil },
						Stdout: writerFunc(func(p []byte) (int, error) { once.Do(func() { ready <- struct{}{} }); return len(p), nil })}
					res, err := r.Run(context.Background(), s)
					mu.Lock()
					defer mu.Unlock()
					var unknown *invoke.UnknownError
					switch {
					case err == nil && res.ExitCode == code && string(res.Stdout) == "before\nafter\n" && told == 1:
						adopted++
					case errors.As(err, &unknown) && res.ExitCode == 0 && told == 0 && len(res.Stdout) == 0:
						// The answer to its start was lost, and nobody knows whether it began.
						if _, err := r.Adopt(context.Background(), s.ID, invoke.Watch{}); err != nil {
							t.Error(err)
						}
					case err != nil && told == 0 && len(res.Stdout) == 0:
						// Nothing had begun, and the server that came back could not begin it.
						t.Logf("round %d: %v", round, err)
					case err == nil && bytes.Contains(res.Stderr, []byte("write exec fifo")) && len(res.Stdout) == 0:
						// runc was cut off while it started the program, and says so itself.
						t.Logf("round %d: %s", round, res.Stderr)
					default:
						t.Errorf("round %d, code %d: %+v, %v; told %d times", round, code, res, err, told)
					}
				}()
			}
			if round%3 > 0 {
				select {
				case <-ready: // at least one runs
				case <-time.After(time.Minute):
					t.Error("none runs")
				}
			}
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			kill()
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			restart()
			group.Wait()
		}
		t.Logf("%d runs, %d of them seen to their end", runs, adopted)
		if adopted*10 < runs*8 {
			t.Errorf("only %d of %d runs were seen to their end", adopted, runs)
		}
	})
}
