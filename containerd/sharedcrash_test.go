//go:build linux && amd64

package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/containerd/layout"
	"deployster/internal/runtime/runner"
	"deployster/internal/testkit/crash"
)

// A client is killed before each of its calls, while an action of it shares a container with an earlier one, or has
// one of its own, which is removed after its result is known: the action is carried out once or not at all, and whoever
// looks for it finds which.
func TestSharedAction_KilledAtEachCall(t *testing.T) { killedAtEachCall(t, true) }
func TestAction_KilledAtEachCall(t *testing.T)       { killedAtEachCall(t, false) }

func killedAtEachCall(t *testing.T, reuse bool) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.IdleExit = time.Minute, time.Minute
	a := newActor(t, o)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	records := t.TempDir()
	run := func(id string, at int) crash.Result {
		job := clientJob{DataDir: o.DataDir, RuntimeDir: o.RuntimeDir, Runc: o.Runc, Keep: time.Minute, Spec: a.spec(id, "echo done >>/d/"+id),
			Recorded: filepath.Join(records, id)}
		job.Spec.Reuse = reuse
		b, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		res, err := crash.Run(crash.Program{Path: self, Args: []string{testClientName, string(b)}, Env: os.Environ(), Dir: "/", Output: null},
			crash.Point{Dir: o.RuntimeDir, Also: []string{records, filepath.Join(o.DataDir, "outcomes")}, Sockets: true, At: at})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := run("whole", 0)
	if res.Exit != 0 {
		t.Fatalf("the client ended with %d after %d calls", res.Exit, len(res.Calls))
	}
	fates := map[string]int{}
	killedAt := func(at int) (recorded bool) {
		id := fmt.Sprint("at", at)
		killed := run(id, at)
		out, err := a.r.Adopt(context.Background(), id, runner.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(a.dir, id))
		done := strings.Count(string(content), "done\n")
		recorded = layout.Exists(filepath.Join(records, id))
		fate := string(out.Fate)
		if out.NoTrace {
			fate = "no trace"
		}
		if recorded {
			fate += ", recorded"
		}
		fates[fate]++
		good := false
		switch fate {
		case "exited", "exited, recorded":
			good = out.ExitCode == 0 && done == 1
		case "not begun", "no trace":
			good = done == 0
		case "no trace, recorded":
			good = done == 1
		}
		if !good || err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("killed before %v: %s, exit code %d (%s), done %d times (%v)", killed.Hit, fate, out.ExitCode, out.Why, done, err)
		}
		if err := a.r.Discard(context.Background(), id); err != nil {
			t.Errorf("killed before %v: %v", killed.Hit, err)
		}
		return recorded
	}
	step, before, after := rounds(7, 1), 0, len(res.Calls)+1
	for at := 1 + rand.IntN(step); at <= len(res.Calls); at += step {
		if !killedAt(at) {
			before = at
		} else {
			after = min(after, at)
		}
	}
	// An action runs for a few calls only, right before its end is recorded. Which calls these are differs a little between runs.
	for range 3 {
		for at := max(1, min(before, after)-step); at <= min(len(res.Calls), max(before, after)+step) && len(fates) < 3; at++ {
			killedAt(at)
		}
	}
	t.Logf("%d calls: %v", len(res.Calls), fates)
	if len(fates) < 3 {
		t.Errorf("only these ends were seen: %v", fates)
	}
	last := o
	last.Keep = time.Millisecond
	r, err := Open(context.Background(), last)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(context.Background(), a.spec("last", ":")); errors.Join(err, r.Close()) != nil {
		t.Error(err)
	}
	swept(t, a.r)
}
