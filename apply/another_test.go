package apply_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deployster/apply"
	"deployster/protocol"
	"deployster/state"
)

// placed is a resource whose type finds its object by nothing but what it remembers, and
// the place that it is in.
func placed(place, lifecycle string) string {
	return fmt.Sprintf("plug \"world\" {\n  path = %q\n}\nresource \"a\" {\n  type = \"test/placed:1\"\n%s  config = {}\n}\n", place, lifecycle)
}

// stopFirst is what addPlaced may want to be stopped before a thing is made.
const stopFirst = `,"shutdown_first":{"name":"stop","args":["stop"]}`

// addPlaced adds its type, with what it wants to be stopped before a thing is made. It tells how many things were made.
func addPlaced(t *testing.T, e *engine, stops string) (made func() int) {
	t.Helper()
	for _, place := range []string{"old", "new"} {
		if err := os.Mkdir(filepath.Join(e.dir, place), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	s := &scripted{init: `"memory":true,"plugs":{"world":{"container_path":"/world","writable":true}},`}
	s.answer = func(in protocol.StateInput, args []string) (string, int) {
		switch {
		case args[0] == "make":
			n++
			return fmt.Sprintf(`{"memory":%d}`, n), 0
		case args[0] == "stop":
			return `{"memory":null}`, 0
		case in.Memory != nil:
			return fmt.Sprintf(`{"status":"VALID","state":{},"memory":%s}`, in.Memory), 0
		case len(in.Unsettled) > 0: // it looks for what they have made
			return fmt.Sprintf(`{"status":"VALID","state":{},"memory":%d}`, n), 0
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]` + stops + `}`, 0
	}
	e.fake.Add("test/placed:1", s.program)
	return func() int { return n }
}

// What is made in the place of another thing is made once, wherever the process dies: who
// goes on with the plan asks for what was begun then, and not for another thing.
func TestAnotherObject_IsResumed(t *testing.T) {
	t.Parallel()
	for name, lifecycle := range map[string]string{"adopts": "", "new": "  lifecycle {\n    adopt = false\n  }\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for facts := 1; ; facts++ {
				e := newEngine(t.TempDir())
				made := addPlaced(t, e, "")
				e.do(t, placed("old", lifecycle))
				p, err := e.plan(placed("new", lifecycle))
				if err != nil || !p.Resources["a"].OtherObject {
					t.Fatalf("%+v, %v", p, err)
				}
				kept := map[string][]byte{}
				e.wrap = func(j apply.Journal) apply.Journal {
					return &dying{Journal: j, left: facts, keep: func() { e.keep(t, kept) }}
				}
				if report, _ := e.apply(t.Context(), p); report.Status == apply.OK && len(kept) == 0 {
					if facts < 3 {
						t.Errorf("only %d facts", facts)
					}
					return
				}
				for file, data := range kept {
					if err := os.WriteFile(filepath.Clean(file), data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				e.wrap = nil
				report, err := e.apply(t.Context(), p)
				entry := e.recorded(t).Resources["a"]
				if err != nil || report.Status != apply.OK || made() != 2 || string(entry.Memory) != "2" {
					t.Errorf("dead after %d facts: made %d, remembers %s: %s, %v", facts, made(), entry.Memory, encode(report), err)
				}
				if rest, err := e.plan(placed("new", lifecycle)); err != nil || rest.HasChanges() {
					t.Errorf("dead after %d facts, there is still to do: %v", facts, err)
				}
			}
		})
	}
}

// Another thing is let go of with the first action on the new one, and not before: where
// that is not approved, interrupted, or cannot be recorded, its entry stays as it was.
func TestAnotherObject_StaysUntilTheFirstAction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stops string // what its image wants to be stopped before
		ends  func(e *engine, cancel func())
		want  apply.Status
	}{
		"not approved":                    {"", func(e *engine, _ func()) { e.opts.Confirm, e.opts.Ask = apply.ConfirmAction, (&person{}).ask }, apply.NotStarted},
		"its shutdown is not approved":    {stopFirst, func(e *engine, _ func()) { e.opts.Confirm, e.opts.Ask = apply.ConfirmAction, (&person{}).ask }, apply.NotStarted},
		"interrupted while it is asked":   {"", func(e *engine, cancel func()) { e.opts.Events = func(apply.Event) { cancel() } }, apply.Interrupted},
		"interrupted before its shutdown": {stopFirst, func(e *engine, cancel func()) { e.opts.Events = func(apply.Event) { cancel() } }, apply.Interrupted},
		"not recorded": {"", func(e *engine, _ func()) {
			e.wrap = func(j apply.Journal) apply.Journal {
				return &brokenJournal{Journal: j, started: errors.New("disk full")}
			}
		}, apply.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			made := addPlaced(t, e, c.stops)
			e.do(t, placed("old", ""))
			p, err := e.plan(placed("new", ""))
			if err != nil || !p.Resources["a"].OtherObject {
				t.Fatalf("%+v, %v", p, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			was := e.recorded(t).Resources["a"]
			c.ends(e, cancel)
			report, _ := e.apply(ctx, p)
			is := e.recorded(t).Resources["a"]
			if report.Resources["a"].Status != c.want || made() != 1 {
				t.Errorf("made %d: %s", made(), encode(report))
			}
			if encode(is) != encode(was) {
				t.Errorf("recorded is %s, was %s", encode(is), encode(was))
			}
		})
	}
}

// lettingGo is a journal that lists the actions with which another thing is let go of.
type lettingGo struct {
	apply.Journal
	with *[]string
}

func (l lettingGo) ActionStarted(s state.Start) error {
	if s.Another {
		*l.with = append(*l.with, s.Action)
	}
	return l.Journal.ActionStarted(s)
}

// Another thing is let go of once: with a shutdown_first, if that is the first action, and
// not with those after it.
func TestAnotherObject_IsForgottenOnce(t *testing.T) {
	t.Parallel()
	for stops, want := range map[string]string{"": "[make]", stopFirst: "[stop]"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			made := addPlaced(t, e, stops)
			e.do(t, placed("old", ""))
			var with []string
			e.wrap = func(j apply.Journal) apply.Journal { return lettingGo{j, &with} }
			report := e.do(t, placed("new", ""))
			if entry := e.recorded(t).Resources["a"]; report.Status != apply.OK || made() != 2 || string(entry.Memory) != "2" {
				t.Errorf("made %d, remembers %s: %s", made(), entry.Memory, encode(report))
			}
			if fmt.Sprint(with) != want {
				t.Errorf("let go of with %v", with)
			}
		})
	}
}

// What was recorded where a new thing is begun may also have another address now: what
// the run that died began there is no other thing either.
func TestAnotherObject_IsResumedWhereTheOldOneIsDeposed(t *testing.T) {
	t.Parallel()
	adopts := func(id string) string {
		return replaced(one("known", "d", `"`+id+`"`, `"l"`), "  config", "  lifecycle {\n    adopt = false\n  }\n  config")
	}
	e := endings(t)
	e.do(t, adopts("d1"))
	p, err := e.plan(adopts("d2") + one("known", "late", "resource.d.state.v", "1"))
	if err != nil || !p.Resources["d"].OtherObject || len(p.Moves) != 1 {
		t.Fatalf("%s, %v", encode(p), err)
	}
	e.world.TakeLog()
	e.dieAfter(t, 3, p) // the move, the start of d, its end
	report, err := e.apply(t.Context(), p)
	if done := e.done(); err != nil || report.Resources["d"].Status != apply.OK || done != "make d2, make l" {
		t.Errorf("done %s: %s, %v", done, encode(report), err)
	}
}
