//go:build linux && amd64

package crash_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/testkit/crash"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
)

// kept is the type of things that get their names at random, and are found by what it
// remembers. Its config says whose they are: "a~1" is the thing of a, which is to hold 1.
func (w *world) kept(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"memory":true,"state_action":{"args":["state"]}}`)
		return 0
	}
	var in protocol.ActionInput
	err := json.NewDecoder(stdin).Decode(&in)
	in.Name = "" // it is not found by its address
	if err == nil && in.Memory != nil {
		err = json.Unmarshal(in.Memory, &in.Name)
	}
	list, failed := effects(w.path)
	if err != nil || failed != nil {
		_, _ = fmt.Fprintln(stderr, err, failed)
		return 7
	}
	_, there := things(list)[in.Name]
	switch {
	case s.Args[0] == "state" && !there && slices.Contains(in.Unsettled, "make"):
		_, _ = io.WriteString(stdout, `{"error":{"class":"unsettled","message":"it may have been made"}}`)
		return 0
	case s.Args[0] == "state":
		_, _ = io.WriteString(stdout, look(things(list), in.StateInput))
		return 0
	case s.Args[0] == "make":
		in.Name = rand.Text()
	}
	if err := w.append(effect{Key: in.IdempotencyKey, Action: s.Args[0], Name: in.Name, Config: in.Config}); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 7
	}
	said, err := json.Marshal(in.Name)
	if s.Args[0] == "remove" {
		said = []byte("null")
	}
	_, _ = fmt.Fprintf(stdout, `{"memory":%s}`, said)
	if err != nil {
		return 7
	}
	return 0
}

// owner is whose thing it is, by its config.
func owner(config string) string {
	var c struct{ V string }
	if json.Unmarshal([]byte(config), &c) != nil {
		return config
	}
	name, _, _ := strings.Cut(c.V, "~")
	return name
}

// account holds what is there to what is remembered and what is not settled. It gives the
// resources of which a person has to say whether they were made.
func (a *arena) account() (open, faults []string) {
	a.t.Helper()
	s, _, err := state.Load(state.File(filepath.Join(a.dir, "state.json")), nil)
	done, failed := effects(a.log)
	if err != nil || failed != nil {
		return nil, []string{fmt.Sprint("torn: ", err, failed)}
	}
	remembered := map[string]string{}
	for addr, e := range s.Resources {
		var id string
		if len(e.Memory) > 0 && json.Unmarshal(e.Memory, &id) == nil {
			remembered[id] = addr
		}
	}
	there, seen := things(done), map[string]bool{}
	for id, config := range there {
		name := owner(config)
		begun := slices.Contains(s.Unsettled[name].Names(), "make")
		if seen[name] {
			faults = append(faults, "twice: "+name)
		}
		if seen[name] = true; remembered[id] != name && !begun {
			faults = append(faults, fmt.Sprintf("lost: %s of %s is neither remembered nor unsettled", id, name))
		}
	}
	for id, addr := range remembered {
		if there[id] == "" && len(s.Unsettled[addr].Names()) == 0 {
			faults = append(faults, fmt.Sprintf("wrong: %s of %s is remembered, and is not there", id, addr))
		}
	}
	for addr, u := range s.Unsettled {
		if slices.Contains(u.Names(), "make") {
			open = append(open, addr)
		}
	}
	slices.Sort(open)
	return open, faults
}

// resolve is what a person does about what may have been made: it is removed, and said not
// to be there.
func (a *arena) resolve(open []string) {
	a.t.Helper()
	done, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	w := &world{path: a.log}
	for id, config := range things(done) {
		if !slices.Contains(open, owner(config)) {
			continue
		}
		if err := w.append(effect{Key: "by hand " + id, Action: "remove", Name: id, Config: json.RawMessage(config)}); err != nil {
			a.t.Fatal(err)
		}
	}
	store, err := state.Open(a.t.Context(), state.File(filepath.Join(a.dir, "state.json")), state.Options{Command: "test"})
	if err != nil {
		a.t.Fatal(err)
	}
	next := store.Snapshot()
	for _, addr := range open {
		next = next.Judged(addr, actions.Failed)
	}
	if err := store.Replace(next); err != nil {
		a.t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		a.t.Fatal(err)
	}
}

// Killed before each call, with its worker, an apply of things with random names loses none
// and makes none twice: what is there is remembered, or its making is not settled, and then
// nothing is made until a person has said how it is.
func TestEngine_KilledAtEachCall_WithAMemory(t *testing.T) {
	t.Parallel()
	a := newArena(t, 1)
	before := map[string]string{"a": "a~1", "b": "b~1", "c": "c~1"}
	after := map[string]string{"a": "a~2", "b": "b~1", "d": "d~1", "e": "e~1"}
	if o := a.run(before, crash.Point{}); o.Exit != 0 {
		t.Fatalf("the preparation failed: %s", o.output)
	}
	start := a.save("start")
	points, asked, happened := 0, 0, 0
	for at := 1; ; at += sample(2, 1) {
		a.reset(start)
		o := a.run(after, crash.Point{At: at})
		if o.Hit == nil {
			break
		}
		points++
		open, faults := a.account()
		made, err := effects(a.log)
		if err != nil {
			t.Fatal(err)
		}
		next := a.run(after, crash.Point{})
		if len(open) > 0 {
			asked++
			if now, err := effects(a.log); err != nil || len(now) != len(made) {
				faults = append(faults, fmt.Sprintf("made: %v, where %s was not settled, %v", now[len(made):], open, err))
			}
			for _, config := range things(made) {
				if slices.Contains(open, owner(config)) {
					happened++
				}
			}
			if !strings.Contains(next.output, "it may have been made") {
				faults = append(faults, "silent: nobody is asked: "+next.output)
			}
			a.resolve(open)
			next = a.run(after, crash.Point{})
		}
		left, more := a.account()
		if faults = append(faults, more...); next.Exit != 0 || len(left) > 0 {
			faults = append(faults, fmt.Sprintf("the run after the crash: %s, open are %s", next.output, left))
		}
		done, err := effects(a.log)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, config := range things(done) {
			got[owner(config)] = config
		}
		for name, value := range after {
			if want := fmt.Sprintf(`{"v":%q}`, value); got[name] != want || len(got) != len(after) {
				faults = append(faults, fmt.Sprintf("wrong: %s is %s, want %s", name, got[name], want))
			}
		}
		for _, f := range faults {
			t.Errorf("killed before call %d (%s): %s", at, o.Hit, f)
		}
	}
	t.Logf("%d points; at %d of them somebody is asked, and at %d it had happened", points, asked, happened)
	if points < 15 || asked == 0 || happened == 0 || asked == points {
		t.Error("it was killed where nothing happens")
	}
}
