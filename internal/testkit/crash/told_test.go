//go:build linux && amd64

package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/testkit/crash"
	"deployster/protocol"
	"deployster/state"
)

// told is the type of the same things that reads anew what it subscribes: by the action
// reload, which leaves a thing as it is.
func (w *world) told(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"refresh":true,"state_action":{"args":["state"]}}`)
		return 0
	}
	text, err := io.ReadAll(stdin)
	var in protocol.StateInput
	if err != nil || json.Unmarshal(text, &in) != nil {
		return 90
	}
	list, err := effects(w.path)
	if err != nil {
		return 7
	}
	if have, there := things(list)[in.Name]; s.Args[0] == "state" && there && in.Refresh && have == string(in.Config) {
		_, _ = fmt.Fprintf(stdout, `{"status":"STALE","staleState":%s,"actions":[{"name":"reload","args":["reload"]}]}`, have)
		return 0
	}
	return w.program(ctx, s, bytes.NewReader(text), stdout, stderr)
}

// repairs runs the subject as the repair of a watch.
func (a *arena) repairs(values map[string]string, at crash.Point) outcome {
	a.t.Helper()
	p := a.program(values)
	defer p.Output.Close()
	p.Env = append(p.Env, subjectRepair+"=1")
	return a.trace(p, at)
}

// Killed before each call, a repair is gone on with by the next one: what was gone is made
// once, and who subscribes it reads it anew after that, also where the one that made it died.
func TestRepair_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	a := newArena(t, 1)
	values := map[string]string{"a": "1", "b": "1@a"}
	if o := a.run(values, crash.Point{}); o.Exit != 0 {
		t.Fatalf("the preparation failed: %s", o.output)
	}
	w := &world{path: a.log}
	if err := w.append(effect{Key: "by hand", Action: "remove", Name: "a", Config: json.RawMessage("{}")}); err != nil {
		t.Fatal(err)
	}
	start := a.save("start")
	points, between := 0, 0
	for at := 1; ; at += sample(2, 1) {
		a.reset(start)
		o := a.repairs(values, crash.Point{At: at})
		done, err := effects(a.log)
		if err != nil {
			t.Fatal(err)
		}
		if made, told := sinceRemoved(done); made > 0 && told == 0 {
			between++
		}
		next := o
		if o.Hit != nil {
			points++
			next = a.repairs(values, crash.Point{})
		}
		for _, f := range a.checkRepaired(next, o.Hit != nil) {
			t.Errorf("killed before call %d (%s): %s", at, o.Hit, f)
		}
		if o.Hit == nil {
			break
		}
	}
	t.Logf("%d points, %d of them between the making and the reload", points, between)
	if points < 15 || between < 2 {
		t.Error("it was killed where nothing happens")
	}
}

// sinceRemoved counts what was made since a thing was removed by hand, and what was read anew
// after that.
func sinceRemoved(done []effect) (made, told int) {
	removed := false
	for _, e := range done {
		switch {
		case e.Key == "by hand":
			removed = true
		case removed && e.Action == "reload" && made > 0:
			told++
		case removed && e.Action == "make":
			made++
		}
	}
	return made, told
}

// checkRepaired looks at what there is when an undisturbed repair has ended.
func (a *arena) checkRepaired(o outcome, crashed bool) (faults []string) {
	a.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if o.Exit != 0 {
		say("the repair failed: %s", o.output)
		return faults
	}
	done, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	made, told := sinceRemoved(done)
	if made != 1 || told == 0 || told > 1 && !crashed {
		say("made %d times, and read anew %d times", made, told)
	}
	s, recovery, err := state.Load(state.File(filepath.Join(a.dir, "state.json")), nil)
	if err != nil || recovery != nil {
		say("torn: %v, %v", err, recovery)
	}
	if acted := s.Resources["a"].Acted; acted == 0 || s.Resources["b"].Seen["a"] != acted {
		say("recorded: acted on in %d, seen %v", acted, s.Resources["b"].Seen)
	}
	if left := a.leftovers(); len(left) > 0 {
		say("left behind: %v", left)
	}
	return faults
}
