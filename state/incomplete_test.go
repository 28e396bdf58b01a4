package state

import (
	"path/filepath"
	"testing"
)

// What an apply began to make is remembered from its first action on, also when
// the process dies; VALID takes its place, and a removal takes it away.
func TestEntry_IncompleteIsRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	e := entry(`{"n":1}`)
	for _, addr := range []string{"dies", "fails", "ends", "goes"} {
		ok(t, j.ActionStarted(Start{Address: addr, Action: "make", Key: "k-" + addr, Incomplete: &e}))
	}
	exit := 7
	ok(t, j.ActionEnded("fails", "make", End{Exit: exit, Reason: "no room"}), j.Valid("ends", e), j.Removed("goes"))
	other := entry(`{"n":2}`)
	ok(t, j.ActionStarted(Start{Address: "ends", Action: "polish", Key: "k", Incomplete: &other}), s.Close()) // it died
	snapshot, _, err := Load(File(path))
	ok(t, err)
	for _, addr := range []string{"dies", "fails"} {
		got, known := snapshot.Resources[addr]
		if !known || !got.Incomplete() || !got.Dirty || got.State != nil || got.Type != e.Type || string(got.Config) != `{"a":"<b>","z":1}` {
			t.Errorf("%s is recorded as %+v", addr, got)
		}
		if _, reached := snapshot.Completed(addr); reached {
			t.Errorf("%s was never VALID", addr)
		}
	}
	if got, reached := snapshot.Completed("ends"); !reached || string(got.State) != `{"n":1}` || !got.Dirty {
		t.Errorf("what was VALID is recorded as %+v", got)
	}
	if _, known := snapshot.Resources["goes"]; known {
		t.Error("what was removed is still recorded")
	}
}

// Who subscribes with a run has seen what was done before it, however many actions it runs.
func TestEntry_SubscribersSeeWhatWasBefore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	e := entry(`{"n":1}`)
	ok(t, j.Valid("new", e), j.Valid("file", e))
	e.Seen = map[string]uint64{"file": 7, "other": 3}
	ok(t, j.Valid("old", e))
	for _, action := range []string{"make", "polish"} {
		ok(t, j.ActionStarted(Start{Address: "file", Action: action, Key: action, Subscribers: []string{"new", "old", "unknown"}}))
	}
	ok(t, s.Close()) // it died
	snapshot, _, err := Load(File(path))
	ok(t, err)
	if got := snapshot.Resources["new"].Seen; len(got) != 1 || got["file"] >= snapshot.Resources["file"].Acted {
		t.Errorf("the new subscriber has seen %v of %d", got, snapshot.Resources["file"].Acted)
	}
	if got := snapshot.Resources["old"].Seen; len(got) != 2 || got["file"] != 7 {
		t.Errorf("the old subscriber has seen %v", got)
	}
	if _, known := snapshot.Resources["unknown"]; known {
		t.Error("of whom nothing is recorded, something is now")
	}
}

// What is begun in the place of another thing takes the place of its entry in one with
// the action. Where that cannot be recorded, the entry stays as it was.
func TestEntry_OfAnotherObject(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"its start is recorded": false, "its start cannot be recorded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			at := &faultyPlace{Place: File(path)}
			s, err := Open(t.Context(), at, Options{})
			ok(t, err)
			j := mustBegin(t, s, "p")
			old, other := entry(`{"n":1}`), entry(`{"n":2}`)
			old.Memory = []byte(`1`)
			ok(t, j.Valid("a", old), j.ActionStarted(Start{Address: "a", Action: "polish", Key: "k"}), j.ActionEnded("a", "polish", End{Exit: 7}))
			at.log.failSync = fails
			err = j.ActionStarted(Start{Address: "a", Action: "make", Key: "l", Incomplete: &other, Another: true, Memory: []byte(`1`)})
			if (err != nil) != fails {
				t.Error(err)
			}
			if !fails {
				ok(t, j.ActionStarted(Start{Address: "a", Action: "make", Key: "l", Incomplete: &other}), s.Close()) // it died
			} else {
				ok(t, j.Finish(StatusError), s.Close())
			}
			got, _, err := Load(File(path))
			ok(t, err)
			e, u, action := got.Resources["a"], got.Unsettled["a"], "make"
			if fails {
				action = "polish"
			}
			if e.Incomplete() == fails || string(e.Memory) != "1" || len(u.Actions) != 1 || u.Actions[0].Action != action {
				t.Errorf("recorded is %+v, unsettled %+v", e, u)
			}
			if died, _ := got.Died("p"); !fails && died.Done["a"] != "" {
				t.Errorf("done is %v", died.Done)
			} else if _, done := died.Done["a"]; done == fails {
				t.Errorf("done is %v", died.Done)
			}
		})
	}
}
