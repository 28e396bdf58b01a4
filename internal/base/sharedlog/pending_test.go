package sharedlog_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/sharedlog"
)

// Who looks at pending files keeps nobody from making one, or from finding what was left.
func TestPending_IsReadByMany(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pending")
	left, err := sharedlog.CreatePending(dir, "l", "dead")
	if err != nil {
		t.Fatal(err)
	}
	looker, err := os.Open(left.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer looker.Close()
	if list := sharedlog.Left(dir, "l"); len(list) > 0 {
		t.Errorf("of a process that lives, %q are left", list)
	}
	// Its process has died, and another one looks at it.
	a := (&sharedlog.Claim{}).NewAppender("dead", left)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(looker.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if list := sharedlog.Left(dir, "l"); !slices.Equal(list, []string{left.Path()}) {
		t.Errorf("left are %q", list)
	}
}

func TestCreatePending_WhileOthersRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pending")
	var looks sync.WaitGroup
	quit := make(chan struct{})
	for range 4 {
		looks.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					sharedlog.Left(dir, "l")
				}
			}
		})
	}
	for end, n := time.Now().Add(2*time.Second), 0; time.Now().Before(end) && n < 5000; n++ {
		p, err := sharedlog.CreatePending(dir, "l", sharedlog.NewID())
		if err != nil {
			t.Errorf("after %d: %v", n, err)
			break
		}
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
	}
	close(quit)
	looks.Wait()
}
