//go:build linux && amd64

package crash_test

import (
	"regexp"
	"slices"
	"syscall"
	"testing"

	"deployster/internal/testkit/crash"
)

// TestQuiet_StopsAtTheSameCalls: with fewer stops the same calls are met, and fail, and
// are the last.
func TestQuiet_StopsAtTheSameCalls(t *testing.T) {
	t.Parallel()
	sc := scenarios()[0]
	for _, fault := range []crash.Point{{}, {At: 7}, {At: 7, Errno: syscall.EIO}, {At: 2, Errno: syscall.EMFILE, Reads: true}} {
		a := newArena(t, 1)
		start := a.save("start")
		quiet := a.run(sc.after, fault)
		a.reset(start)
		p := a.program(sc.after)
		defer p.Output.Close()
		fault.Dir = a.dir
		result, err := crash.Run(p, fault)
		if err != nil {
			t.Fatal(err)
		}
		loud := a.outcome(p, result)
		if quiet.Exit != loud.Exit || quiet.Killed != loud.Killed || len(quiet.Calls) < 2 ||
			!slices.EqualFunc(quiet.Calls, loud.Calls, sameCall) {
			t.Errorf("%+v: quiet\n%+v\nand otherwise\n%+v", fault, quiet, loud)
		}
	}
}

// sameCall compares calls. The names of temporary files differ from run to run.
func sameCall(a, b crash.Call) bool {
	temporary := regexp.MustCompile(`\.tmp-\d+$`)
	return a.Name == b.Name && temporary.ReplaceAllString(a.Path, "") == temporary.ReplaceAllString(b.Path, "")
}
