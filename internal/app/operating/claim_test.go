package operating

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/command"
	"deployster/internal/app/workspace"
	"deployster/state"
)

// backups is a manifest with a resource, and a schedule for an operation on it that changes nothing.
var backups = strings.NewReplacer(`"grow"`, `"backup"`, "by = 2", `to = "x"`).Replace(nightly)

var backup = Options{Pattern: "a", Name: "backup", Values: []Value{{"to", "x"}}, Auto: true}

// refused expects that an operation still runs, and that nothing was begun beside it.
func refused(t *testing.T, what string, err error, begun, want int) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "The operation still runs") || begun != want {
		t.Errorf("%s: %v; %d runs", what, err, begun)
	}
}

// unlock does what the kernel does when a process dies: its operations are locked no more.
func unlock(t *testing.T, e *app.Engine) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(e.Workspace.Dir, "*.operation-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("locked: %q, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
}

// An operation that changes nothing is not run beside itself, by hand or by its schedule; nor is a run by hand beside
// one by schedule. Others are, and its end frees it.
func TestRun_OnceAtATimeWithoutALock(t *testing.T) {
	e, world := newEngine(t, backups+strings.ReplaceAll(one, `"a"`, `"b"`))
	beside := 0
	world.before = func() {
		world.mu.Unlock()
		defer world.mu.Lock()
		if beside++; beside > 1 {
			return
		}
		_, err := Run(t.Context(), e, backup)
		refused(t, "by hand", err, beside, 1)
		report, rest, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 0))
		if err != nil || rest != nil || report == nil {
			t.Errorf("by schedule: %+v, %v", report, err)
		} else {
			refused(t, "by schedule", report.Problems.Err(), beside, 1)
		}
		other := backup
		if other.Pattern = "b"; beside == 1 {
			if _, err := Run(t.Context(), e, other); err != nil || beside != 2 {
				t.Errorf("on another resource: %v, %d runs", err, beside)
			}
		}
	}
	if report, err := Run(t.Context(), e, backup); err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	_, rest, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 1))
	if err != nil || rest == nil {
		t.Fatalf("after its end: %v", err)
	}
	_, err = Run(t.Context(), e, backup)
	refused(t, "by hand beside a schedule", err, beside, 2)
	if report := rest(); report.Status != apply.OK {
		t.Errorf("%+v", report)
	}
	if report, err := Run(t.Context(), e, backup); err != nil || report.Status != apply.OK || beside != 4 {
		t.Errorf("after both: %+v, %v, %d runs", report, err, beside)
	}
	if files, err := filepath.Glob(filepath.Join(e.Workspace.Dir, "*operation-*")); err != nil || len(files) > 0 {
		t.Errorf("left: %q, %v", files, err)
	}
}

// The run of a watch on another machine, which a shared state has on record, is not run beside by hand before its end or its limit.
func TestRun_WaitsForAWatchElsewhere(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	e, world := newEngineOf(t, workspace.Options{State: "dir://" + t.TempDir(), DataDir: there}, backups)
	s := schedulerOf(t, e)
	now := time.Now().Add(48 * time.Hour)
	_, rest, err := s.Turn(t.Context(), "nightly", now)
	if err != nil || rest == nil {
		t.Fatal(err)
	}
	e.Workspace.DataDir = here
	if _, err := Run(t.Context(), e, backup); err == nil || !strings.Contains(err.Error(), "The operation may still run") || len(world.ran) > 0 {
		t.Errorf("beside it: %v, %d runs", err, len(world.ran))
	}
	rest()
	if err := s.Ended(t.Context(), "nightly"); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), e, backup); err != nil || len(world.ran) != 2 {
		t.Errorf("after its end: %v, %d runs", err, len(world.ran))
	}
}

// Of many that lock at once, one at a time has the lock, also while others remove its file.
func TestLock_IsThatOfTheFile(t *testing.T) {
	w, one := workspace.New(workspace.Options{Dir: t.TempDir()}), task{addr: "a", name: "backup"}
	place := w.StatePlaceAround()
	var all sync.WaitGroup
	var held, had atomic.Int64
	for range 8 {
		all.Go(func() {
			for range 500 {
				lock, err := one.lock(command.Command{Work: w}, place, state.Snapshot{})
				if err != nil {
					continue // another one has it
				}
				if had.Add(1); held.Add(1) > 1 {
					t.Error("two have the lock")
				}
				runtime.Gosched()
				held.Add(-1)
				if err := lock.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if had.Load() == 0 {
		t.Error("none has had the lock")
	}
}
