//go:build linux && amd64

package crash_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/crash"
	"deployster/plan/planfile"
)

// TestPlanFile_DiskFaults saves a plan over an earlier one, and ends the subject at
// each call, or makes the call fail: what is there afterwards is the one or the
// other, whole; where there was an error it was said, and nothing else is left.
func TestPlanFile_DiskFaults(t *testing.T) {
	t.Parallel()
	a := newArena(t, 1)
	sc := scenarios()[0]
	file := filepath.Join(a.dir, "plan.bin")
	save := func(at crash.Point) outcome {
		t.Helper()
		p := a.program(sc.after)
		defer p.Output.Close()
		p.Env = append(p.Env, subjectPlan+"="+file)
		return a.trace(p, at)
	}
	if o := save(crash.Point{}); o.Exit != 0 {
		t.Fatal(o.output)
	}
	start := a.save("start")
	points := 0
	try := func(f fault, step int, what string) {
		for at := step; ; at += step {
			a.reset(start)
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := save(crash.Point{At: at, Errno: f.errno, Reads: f.reads})
			if o.Hit == nil {
				return
			}
			points++
			for _, wrong := range afterSaving(o, file, before, at, f.errno != 0) {
				t.Errorf("%s at call %d (%s): %s", what, at, o.Hit, wrong)
			}
		}
	}
	try(fault{}, 1, "killed")
	for i, f := range faults() {
		step := 1
		if f.few {
			step = sample(2+i%3, 1)
		}
		try(f, step, f.errno.Error())
	}
	if t.Logf("%d points", points); points < 30 {
		t.Errorf("only %d points", points)
	}
}

// afterSaving gives what is wrong with what saving a plan has left.
func afterSaving(o outcome, file string, before []byte, at int, failed bool) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	content, err := os.ReadFile(file)
	if err != nil {
		say("lost: %v", err)
		return wrong
	}
	if _, err := planfile.Read(bytes.NewReader(content), int64(len(content))); err != nil {
		say("torn: %v", err)
	}
	if info, err := os.Stat(file); err != nil || !bytes.Equal(content, before) && info.Mode().Perm() != 0o600 {
		say("it is open to others: %v, %v", info, err)
	}
	if o.Exit == 0 && bytes.Equal(content, before) {
		say("silent: the plan was not saved")
	}
	if !failed {
		return wrong
	}
	if o.Exit != 0 && !strings.Contains(o.output, "error: ") {
		say("no clear error: exit %d, %s", o.Exit, o.output)
	}
	if again := syncedAgain(o, at); again != "" {
		say("a failed fsync was tried again: %s", again)
	}
	rest, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*"))
	if err != nil || len(rest) > 0 {
		say("left: %q, %v", rest, err)
	}
	return wrong
}
