//go:build linux && amd64

package crash_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"deployster/internal/testkit/crash"
)

// sweep is an apply that is killed before each of its calls.
type sweep struct {
	scenario
	parallelism int
	encrypted   bool
}

// step is 1 where a call before which the apply is not killed must not be left out with
// every change: the mutants are seen there.
func (s sweep) step() int {
	if s.parallelism == 1 && s.name == "all kinds" && !s.encrypted {
		return 1
	}
	return sample(3, 1)
}

func (s sweep) String() string {
	if s.encrypted {
		return fmt.Sprintf("%s at %d, encrypted", s.name, s.parallelism)
	}
	return fmt.Sprintf("%s at %d", s.name, s.parallelism)
}

func sweeps() (out []sweep) {
	for _, parallelism := range []int{1, 4, 2} {
		for i, sc := range scenarios() {
			if parallelism > 1 && sc.name == "moves" { // they are made before anything runs
				continue
			}
			if parallelism == 2 && i >= sample(1, len(scenarios())) {
				continue
			}
			out = append(out, sweep{sc, parallelism, false})
		}
	}
	return append(out, sweep{scenarios()[1], 1, true})
}

// TestEngine_KilledAtEachCall ends the subject before each call that touches a file,
// and lets another one go on.
func TestEngine_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	for _, s := range sweeps() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			a := newArena(t, s.parallelism)
			if s.encrypted {
				a.identity = newIdentity(t)
			}
			start, calls := a.prepare(s.scenario)
			points := 0
			for range sample(1, 10) {
				points += a.killedEverywhere(s, start)
			}
			t.Logf("%d points, %d calls", points, len(calls))
			if points < 15 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// killedEverywhere is one round of a sweep; it says how many points it had.
func (a *arena) killedEverywhere(s sweep, start string) (points int) {
	a.t.Helper()
	for at := s.step(); ; at += s.step() {
		a.reset(start)
		o := a.run(s.after, crash.Point{At: at})
		if o.Hit == nil {
			return points
		}
		points++
		faults, inFlight := a.faults(o)
		next := a.run(s.after, crash.Point{})
		faults = append(append(faults, silent(inFlight, next)...), a.checkNext(next, s.scenario)...)
		for _, f := range faults {
			a.t.Errorf("killed before call %d (%s): %s", at, o.Hit, f)
		}
	}
}

// TestFiles_NamesAreSynced: what a call does to a name in a directory is on the disk
// only when the directory was synced, so that comes next.
func TestFiles_NamesAreSynced(t *testing.T) {
	t.Parallel()
	a := newArena(t, 1)
	_, calls := a.prepare(scenarios()[1])
	names := 0
	for i, c := range calls {
		journal := c.Name == "openat" && c.Path == "state.json.journal"
		moved := strings.HasPrefix(c.Name, "rename") || c.Name == "unlinkat" || c.Name == "unlink"
		if !journal && (!moved || strings.Contains(c.Path, ".tmp-") || strings.HasPrefix(c.Path, "state.json.copies/")) {
			continue
		}
		names++
		next := calls[min(i+1, len(calls)-1)]
		if next.Path == c.Path && next.Name == "unlink" || strings.HasPrefix(next.Name, "unlink") && next.Path == c.Path {
			continue // Go tries to remove a file in two ways
		}
		if next.String() != "fsync ." {
			t.Errorf("after %s comes %s", c, next)
		}
	}
	if names < 3 {
		t.Errorf("only %d names were changed in %v", names, calls)
	}
}

// TestRecovery_KilledAtEachCall ends the subject, and the one that recovers too.
func TestRecovery_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	var pairs atomic.Int64
	const parts = 2
	both := []scenario{scenarios()[1], scenarios()[5]} // of the second, the file has a deposed thing when the next one dies
	t.Run("pairs", func(t *testing.T) {
		for n := range parts * len(both) {
			sc, part := both[n/parts], n%parts
			t.Run(fmt.Sprintf("%s %d", sc.name, part), func(t *testing.T) {
				t.Parallel()
				a := newArena(t, 1)
				start, calls := a.prepare(sc)
				for i := 3 + part*sample(8, 1); i <= len(calls); i += parts * sample(8, 1) {
					a.reset(start)
					first := a.run(sc.after, crash.Point{At: i})
					if first.Hit == nil {
						break
					}
					pairs.Add(int64(a.killedTwice(sc, first, i)))
				}
			})
		}
	})
	t.Logf("%d pairs", pairs.Load())
	if pairs.Load() < 80 {
		t.Errorf("only %d pairs", pairs.Load())
	}
}

// killedTwice ends the one that recovers from a first death; it says how often.
func (a *arena) killedTwice(sc scenario, first outcome, i int) (pairs int) {
	a.t.Helper()
	crashed := a.save(fmt.Sprintf("crashed-%d", i))
	for j := 1 + i%7; ; j += sample(8, 1) {
		a.reset(crashed)
		second := a.run(sc.after, crash.Point{At: j})
		if second.Hit == nil {
			break
		}
		pairs++
		faults, inFlight := a.faults(second)
		third := a.run(sc.after, crash.Point{})
		faults = append(append(faults, silent(inFlight, third)...), a.checkNext(third, sc)...)
		for _, f := range faults {
			a.t.Errorf("killed before call %d (%s), then before call %d (%s): %s", i, first.Hit, j, second.Hit, f)
		}
	}
	if err := os.RemoveAll(crashed); err != nil {
		a.t.Fatal(err)
	}
	return pairs
}

// fault is an error that calls are made to fail with.
type fault struct {
	errno syscall.Errno
	// reads: opening for reading may fail so too.
	reads bool
	// few: with every change only a part of the calls fail.
	few bool
}

func faults() []fault {
	return []fault{
		{errno: syscall.ENOSPC}, {errno: syscall.EIO}, {errno: syscall.EDQUOT, few: true}, {errno: syscall.EROFS, few: true},
		{errno: syscall.EMFILE, reads: true, few: true}, {errno: syscall.ENFILE, reads: true, few: true},
		{errno: syscall.EACCES, reads: true, few: true},
	}
}

// steps are the calls at which a fault is put, in rounds: all of them, but for
// those of which a part will do.
func (f fault) steps(i int, sc scenario) (from, by, rounds int) {
	if f.few || sc.name != "all kinds" {
		return 1 + i%sample(13, 1), sample(13, 1), sample(1, 3)
	}
	return 1, 1, sample(1, 3)
}

// TestEngine_DiskFaultAtEachCall makes each call fail in turn. Nothing may be lost,
// nothing may be said to be well that is not, and no fsync is tried twice.
func TestEngine_DiskFaultAtEachCall(t *testing.T) {
	t.Parallel()
	for i, f := range faults() {
		for _, sc := range scenarios()[:2] {
			t.Run(f.errno.Error()+" "+sc.name, func(t *testing.T) {
				t.Parallel()
				a := newArena(t, 1)
				start, _ := a.prepare(sc)
				points := 0
				from, by, rounds := f.steps(i, sc)
				for round := range rounds {
					for at := from; ; at += by {
						a.reset(start)
						o := a.run(sc.after, crash.Point{At: at, Errno: f.errno, Reads: f.reads})
						if o.Hit == nil {
							break
						}
						points++
						for _, wrong := range a.afterFault(o, sc, at) {
							t.Errorf("round %d, call %d (%s) failed with %v: %s", round, at, o.Hit, f.errno, wrong)
						}
					}
				}
				if t.Logf("%d points", points); points < 3 {
					t.Errorf("only %d points", points)
				}
			})
		}
	}
}

// afterFault gives what is wrong after one call of an apply has failed.
func (a *arena) afterFault(o outcome, sc scenario, at int) []string {
	a.t.Helper()
	faults, inFlight := a.faults(o)
	switch {
	case o.Exit == 0:
		faults = append(faults, a.checkNext(o, sc)...)
	case o.Exit != 1 || !strings.Contains(o.output, "error: "):
		faults = append(faults, fmt.Sprintf("no clear error: exit %d, %s", o.Exit, o.output))
	}
	if again := syncedAgain(o, at); again != "" {
		faults = append(faults, "a failed fsync was tried again: "+again)
	}
	next := a.run(sc.after, crash.Point{})
	return append(append(faults, silent(inFlight, next)...), a.checkNext(next, sc)...)
}

// syncedAgain says which file was synced after its fsync had failed.
func syncedAgain(o outcome, at int) string {
	if o.Hit.Name != "fsync" && o.Hit.Name != "fdatasync" || o.Hit.Path == "" {
		return "" // a directory is synced for each of its names
	}
	for _, c := range o.Calls[at:] {
		if c.Name == o.Hit.Name && c.Path == o.Hit.Path {
			return c.String()
		}
	}
	return ""
}
