package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
)

// calm returns a world in which nothing happens by chance, with an armed group of two.
func calm(t *testing.T) *world {
	w := newWorld(t, memory(t), 1)
	w.n, w.bad, w.applied, w.reboots = 2, true, make([]bool, 2), false
	w.must(w.g.Arm(t.Context(), runner.Group{Key: groupKey, After: 6 * time.Second, Resources: []string{"r0", "r1"}}, first))
	for i := range w.n {
		w.must(w.d.add(t.Context(), runner.Protection{Address: name(i), Order: i, Undo: runner.Spec{Name: name(i), Stdin: []byte("{}")}}))
	}
	w.pass(0)
	return w
}

// pass lets seconds pass, without an action.
func (w *world) pass(seconds int) {
	for range seconds + 1 {
		if _, err := w.k.step(w.t.Context()); err != nil {
			w.t.Error(err)
		}
		w.now = w.now.Add(time.Second)
	}
}

func (w *world) is(want runner.Verdict) {
	w.t.Helper()
	if s, err := w.g.Read(groupKey); err != nil || s.Verdict != want {
		w.t.Errorf("it is %+v (%v), and not %s", s, err, want)
	}
}

// act runs an action of a resource.
func (w *world) act(i, seconds int) {
	id := fmt.Sprintf("a%d", i)
	w.must(w.g.Begin(w.t.Context(), groupKey, id, name(i), time.Minute))
	w.running = id
	w.pass(seconds)
	w.applied[i], w.running = true, ""
	w.read(i)
	w.must(w.g.End(w.t.Context(), groupKey, id))
}

func TestKeeper_CountsFromTheEndOfTheLastAction(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.act(0, 20)
	w.is(runner.Armed)
	w.pass(4)
	w.act(1, 20)
	w.pass(3)
	w.must(w.g.Begin(t.Context(), groupKey, "a2", "r1", time.Minute)) // too short to be seen while it runs
	w.must(w.g.End(t.Context(), groupKey, "a2"))
	w.pass(4)
	w.is(runner.Armed)
	w.pass(3)
	w.is(runner.Undone)
	if want := []string{"r1", "r0", "r1"}; !slices.Equal(w.undone, want) || w.live {
		t.Errorf("undone were %v, and should be %v", w.undone, want)
	}
	if err := w.g.Begin(t.Context(), groupKey, "a2", "r0", time.Minute); err == nil {
		t.Error("an action begins after the undo")
	}
}

func TestKeeper_EndsAnActionPastItsLimit(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.must(w.g.Begin(t.Context(), groupKey, "a0", "r0", 30*time.Second))
	w.running = "a0"
	w.cut()
	w.pass(35)
	if w.running == "" {
		t.Error("the action was ended before its limit")
	}
	w.pass(20)
	if w.is(runner.Undone); len(w.wrong) > 0 || w.running != "" {
		t.Errorf("%q, and %q runs", w.wrong, w.running)
	}
}

// An action that a far end has begun runs, also before it has a container.
func TestKeeper_WaitsForAnActionWithoutContainer(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.must(w.g.Begin(t.Context(), groupKey, "a0", "r0", time.Minute))
	w.pass(20)
	w.is(runner.Armed)
	w.cut()
	w.pass(7)
	w.is(runner.Undone)
}

// An undo that fails stays, is repeated, and says why. One that is wanted does not wait.
func TestKeeper_RepeatsAnUndoThatFails(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.act(0, 1)
	w.fails = 3 // all of the first attempt
	w.must(w.g.Revert(t.Context(), groupKey))
	w.pass(0)
	if s, err := w.g.Read(groupKey); err != nil || s.Verdict != runner.Undoing || !strings.Contains(s.Failure, "r0: exit 1: it is broken") {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := w.g.Confirm(groupKey); err != nil || s.Verdict != runner.Undoing {
		t.Errorf("it is confirmed while it is undone: %+v %v", s, err)
	}
	if err := w.g.Begin(t.Context(), groupKey, "a1", "r1", time.Minute); err == nil {
		t.Error("an action begins while others are undone")
	}
	w.pass(3)
	w.is(runner.Undone)
}

// What is kept is for root alone, and removed at the end. The verdict stays for the client.
func TestGuards_LeaveNothing(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.act(0, 1)
	w.must(w.g.Directory(groupKey, "r0"))
	for _, file := range []string{recordFile, string(runner.Armed)} {
		if info, err := os.Stat(w.d.file(file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	if info, err := os.Stat(string(w.d)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if s, err := w.g.Confirm(groupKey); err != nil || s.Verdict != runner.Confirmed {
		t.Errorf("%+v %v", s, err)
	}
	w.pass(0)
	left, _ := filepath.Glob(string(w.d) + "/*")
	units, _ := filepath.Glob(w.g.Units.Dir + "/*.service")
	if len(left) != 1 || len(units) > 0 || !w.over {
		t.Errorf("left are %v %v", left, units)
	}
	w.is(runner.Confirmed)
	w.must(w.g.Forget(groupKey))
	w.is(runner.Nothing)
}

// A later holder of the state has what is pending undone first. Those of other states do not.
func TestGuards_AreSettledByTheNextHolder(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.act(0, 1)
	for _, h := range []Holder{first, {Lineage: "other", Epoch: 9, Run: "x"}} {
		w.must(w.g.Settle(t.Context(), h))
		w.is(runner.Armed)
	}
	if list, err := w.g.Pending(); err != nil || len(list) != 1 || len(list[0].Resources) != 2 {
		t.Errorf("%v %v", list, err)
	}
	done := make(chan error, 1)
	go func() { done <- w.g.Settle(t.Context(), Holder{Lineage: "l", Epoch: 1, Run: "two"}) }()
	for settled := false; !settled; {
		select {
		case err := <-done:
			w.must(err)
			settled = true
		case <-time.After(time.Millisecond):
			w.pass(0)
		}
	}
	if w.applied[0] {
		t.Error("it is not undone")
	}
	w.is(runner.Nothing)
}

// A machine without systemd refuses, and says why.
func TestUnits_NeedSystemd(t *testing.T) {
	t.Parallel()
	w := calm(t)
	if err := w.g.Arm(t.Context(), runner.Group{Key: "../x"}, first); err == nil {
		t.Error("a key that is a path is accepted")
	}
	for _, part := range []string{"ExecStart=/p guard 0123abc\n", "WantedBy=multi-user.target", "KillMode=process", "Restart=on-failure"} {
		if text := w.g.Units.text(groupKey); !strings.Contains(text, part) {
			t.Errorf("the unit lacks %q:\n%s", part, text)
		}
	}
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		return
	}
	if err := (Units{}).Usable(); err == nil || !strings.Contains(err.Error(), "systemd does not run on this machine") {
		t.Errorf("%v", err)
	}
}

// After a reboot nothing waits: nobody knows what the machine has read at boot.
func TestKeeper_UndoesAtBoot(t *testing.T) {
	t.Parallel()
	w := calm(t)
	links, err := filepath.Glob(w.g.Units.Dir + "/multi-user.target.wants/deployster-guard-*")
	if err != nil || len(links) != 1 {
		t.Errorf("the unit is not started at boot: %v %v", links, err)
	}
	w.act(0, 1)
	w.must(w.g.Begin(t.Context(), groupKey, "a1", "r1", time.Minute))
	w.boot, w.far = "b2", false
	w.read(1)
	w.start()
	w.pass(0)
	if w.is(runner.Undone); w.live {
		t.Error("the service has not read the restored file")
	}
}

// One of two that decide at the same time is too late, and knows it.
func TestDecide_OnceAlone(t *testing.T) {
	t.Parallel()
	root := memory(t)
	for i := range 100 {
		d := dir(fmt.Sprintf("%s/%d", root, i))
		if err := errors.Join(os.MkdirAll(string(d), 0o700), os.WriteFile(d.file(string(runner.Armed)), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		confirmed := make(chan bool)
		go func() {
			won, err := d.decide(runner.Armed, runner.Confirmed)
			confirmed <- won && err == nil
		}()
		undoing, err := d.decide(runner.Armed, runner.Undoing)
		if won := <-confirmed; err != nil || won == undoing {
			t.Fatalf("confirmed %v, undoing %v, %v", won, undoing, err)
		}
		want := runner.Confirmed
		if undoing {
			want = runner.Undoing
		}
		if v, err := d.verdict(); err != nil || v != want {
			t.Fatalf("%s %v", v, err)
		}
	}
}
