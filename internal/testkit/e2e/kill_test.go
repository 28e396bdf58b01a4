//go:build linux && amd64

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"deployster/internal/testkit/crash"
)

// scenarios returns applies that are killed at each of their calls.
func scenarios() []scenario {
	return []scenario{
		{"made and changed", map[string]string{"b": "1"}, map[string]string{"a": "1", "b": "2"}},
		{"made and removed", map[string]string{"d": "1"}, map[string]string{"c": "1"}},
	}
}

// TestApply_KilledAtEachCall ends the real command, which applies a saved plan with
// real containers, before calls that touch its state, its records and the files
// of its containers, or that speak to containerd. The next command goes on: with
// the saved plan, or with a plan of its own. Nothing may be lost, done twice, kept
// from the person or torn, and how each action ended is found out.
func TestApply_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	for _, d := range scenarios() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			calls := p.prepare(d)
			points := p.points(calls)
			for i, at := range points {
				p.reset()
				o := p.run(p.everywhere(at), "apply", "-json", "p.plan")
				where := "at its end" // a run may have fewer calls than another
				if o.Hit != nil {
					where = fmt.Sprintf("before call %d (%s)", at, o.Hit)
				}
				faults, inFlight := p.checkKilled(d, o)
				next := []string{"apply", "p.plan"}
				if i%2 == 1 {
					next = []string{"apply", "-auto-approve"}
				}
				for _, f := range append(faults, p.checkNext(d, inFlight, next)...) {
					t.Errorf("killed %s, then %v: %s", where, next, f)
				}
			}
			t.Logf("%d points of %d calls", len(points), len(calls))
		})
	}
}

// points are the calls before which the command is ended: all of them, or some
// between its first record and its end, with those at which an action runs. How
// many can be said with DEPLOYSTER_CRASH_POINTS.
func (p *project) points(calls []crash.Call) (points []int) {
	all := os.Getenv("DEPLOYSTER_CRASH") == "all"
	first := slices.IndexFunc(calls, func(c crash.Call) bool { return c.Path == "deployster.state.json.journal" })
	some := 4
	if n, err := strconv.Atoi(os.Getenv("DEPLOYSTER_CRASH_POINTS")); err == nil {
		some = n
	}
	for i := range calls {
		turn := i > first && (i-first)*some/(len(calls)-first) != (i-first-1)*some/(len(calls)-first)
		if all || turn || i > 4 && begins(calls, i-4) {
			points = append(points, i+1)
		}
	}
	return points
}

// begins reports whether a call is the last one before the start of an action is
// asked for: what is recorded next is how that ended.
func begins(calls []crash.Call, at int) bool {
	if filepath.Base(calls[at].Path) != "begin" || calls[at].Name != "write" {
		return false
	}
	for _, c := range calls[at+1:] {
		if filepath.Base(c.Path) != "socket" {
			return c.Path == "deployster.state.json.journal"
		}
	}
	return false
}
