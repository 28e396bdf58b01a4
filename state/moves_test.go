package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/state/moves"
)

func recorded(addresses ...string) Snapshot {
	s := Snapshot{Lineage: "l"}.Clone()
	for _, a := range addresses {
		s.Resources[a] = Entry{Type: a}
	}
	return s
}

// Each address is looked up among the rules: of 10,000 that are all moved, few are compared.
func TestMoveRules_AreResolved(t *testing.T) {
	t.Parallel()
	const n = 10_000
	s, rules := recorded(), make([]moves.Rule, n)
	for i := range n {
		s.Resources[fmt.Sprintf("module.m.old%05d", i)] = Entry{}
		rules[i] = moves.Rule{From: fmt.Sprintf("module.m.old%05d", i), To: fmt.Sprintf("module.m.new%05d", i)}
	}
	runtime.LockOSThread() // its processor time is that of this test alone
	defer runtime.UnlockOSThread()
	begun := threadTime(t)
	list, err := s.Resolve(rules)
	if took := threadTime(t) - begun; err != nil || len(list) != n || took > 2*time.Second {
		t.Errorf("%d moves in %s of a processor: %v", len(list), took, err)
	}
}

// threadTime is the processor time of this thread.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Nano())
}

// TestMoveRules_ResolveOrAreRefused resolves rules on states. A case is "FROM>TO FROM>TO: what is
// there": what the moves are, or a part of the refusal.
func TestMoveRules_ResolveOrAreRefused(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]string{
		"a>b: a c":                       "a>b",
		"a>b: c":                         "",
		"a>b: ab a-b":                    "",
		`a>b: a["x"] a["y"] a2`:          `a["x"]>b["x"] a["y"]>b["y"]`,
		`a>a["x"]: a`:                    `a>a["x"]`,
		`a>a["x"]: a[0] a["y"]`:          "",
		`a[0]>a: a[0] a[1]`:              "a[0]>a",
		`a["x"]>a["y"]: a["x"] a["x.z"]`: `a["x"]>a["y"]`,
		"a>b b>c: a":                     "a>c",
		"b>c a>b: a":                     "a>c",
		"a>b b>c: a b":                   "is moved there too",
		"a>c b>c: a b":                   "b to c: a is moved there too",
		"a>b: a b":                       "a to b: b is recorded already",
		`a>b: a["x"] b["x"]`:             `a["x"] to b["x"]: b["x"] is recorded already`,
		"a>b b>a: a":                     "cycle",
		"a>b b>c c>a: c":                 "cycle",
		"module.a>module.b: module.a.x module.ab.x":               "module.a.x>module.b.x",
		`module.a>module.a["k"]: module.a.x module.a.y[0]`:        `module.a.x>module.a["k"].x module.a.y[0]>module.a["k"].y[0]`,
		`module.a["k"]>module.c: module.a["k"].x module.a["l"].x`: `module.a["k"].x>module.c.x`,
		`module.a>module.b: module.a["k"].x module.a["l"].x`:      `module.a["k"].x>module.b["k"].x module.a["l"].x>module.b["l"].x`,
		"x>module.a.x module.a>module.b: x":                       "x>module.b.x",
		"module.a>module.b module.a.x>y: module.a.x module.a.z":   "module.a.x>y module.a.z>module.b.z",
		"module.a.module.c>module.c: module.a.module.c.x":         "module.a.module.c.x>module.c.x",
		`a["].b"]>b: a["].b"] a["].b"`:                            `a["].b"]>b`,
	} {
		left, there, _ := strings.Cut(rules, ": ")
		var list []moves.Rule
		for _, r := range strings.Fields(left) {
			from, to, _ := strings.Cut(r, ">")
			list = append(list, moves.Rule{From: from, To: to})
		}
		s := recorded(strings.Fields(there)...)
		found, err := s.Resolve(list)
		var got []string
		for _, m := range found {
			got = append(got, m.From+">"+m.To)
		}
		var refusal *moves.Error
		if errors.As(err, &refusal) {
			if refusal.Rule < 0 || refusal.Rule >= len(list) {
				t.Errorf("%s: the refusal %v names no rule", rules, err)
			}
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", rules, err, want)
			}
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %q", rules, got, want)
		}
		if _, err := s.Moved(found); err != nil {
			t.Errorf("%s: the moves cannot be made: %v", rules, err)
		}
	}
}

func TestMoved_RenamesDependenciesToo(t *testing.T) {
	t.Parallel()
	s := recorded("a", "b", "c")
	s.Resources["c"] = Entry{Type: "c", Dependencies: []string{"a", "b"}}
	got, err := s.Moved([]moves.Move{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "c", To: "d"}}) // a and b change places
	ok(t, err)
	if got.Resources["a"].Type != "b" || got.Resources["b"].Type != "a" || len(got.Resources) != 3 {
		t.Errorf("moved: %+v", got.Resources)
	}
	got, err = s.Moved([]moves.Move{{From: "a", To: "z"}})
	ok(t, err)
	if deps := got.Resources["c"].Dependencies; !slices.Equal(deps, []string{"b", "z"}) {
		t.Errorf("dependencies: %v", deps)
	}
	if deps := s.Resources["c"].Dependencies; !slices.Equal(deps, []string{"a", "b"}) || s.Resources["a"].Type != "a" {
		t.Errorf("the old snapshot was changed: %v", s.Resources)
	}
	for _, bad := range [][]moves.Move{{{From: "x", To: "y"}}, {{From: "a", To: "b"}}, {{From: "a", To: "d"}, {From: "a", To: "e"}}, {{From: "a", To: "d"}, {From: "b", To: "d"}}} {
		if got, err := s.Moved(bad); err == nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%v: %v, %v", bad, got, err)
		}
	}
}

// A process that dies after a move leaves it made: the next one finds it in the
// journal, folds it in, and goes on from there.
func TestMoves_SurviveACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p0")
	ok(t, j.Valid("a", entry(`{"v":1}`)), j.Valid("b", entry(`{"v":2}`)), j.Finish(StatusOK))
	j = mustBegin(t, s, "p1")
	if err := j.Moved([]moves.Move{{From: "a", To: "b"}}); err == nil {
		t.Error("moved onto what is there")
	}
	ok(t, j.Moved([]moves.Move{{From: "a", To: "b"}, {From: "b", To: "c"}}), j.ActionStarted(Start{Address: "b", Action: "act", Key: "k"}), s.Close())
	loaded, recovery, err := Load(File(path))
	ok(t, err)
	if string(loaded.Resources["b"].State) != `{"v":1}` || string(loaded.Resources["c"].State) != `{"v":2}` || len(loaded.Resources) != 2 || recovery == nil {
		t.Errorf("loaded: %+v, %+v", loaded.Resources, recovery)
	}
	whole, err := os.ReadFile(path + ".journal")
	ok(t, err)
	s = mustOpen(t, path)
	if !reflect.DeepEqual(s.Snapshot(), loaded) {
		t.Errorf("folded: %+v, loaded: %+v", s.Snapshot(), loaded)
	}
	// A crash of the folding itself: the journal is there again, and says nothing new.
	ok(t, s.Close(), os.WriteFile(path+".journal", whole, 0o600))
	s = mustOpen(t, path)
	if !reflect.DeepEqual(s.Snapshot(), loaded) {
		t.Errorf("folded twice: %+v", s.Snapshot())
	}
	ok(t, s.Close())
}
