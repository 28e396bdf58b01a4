package sharedstate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/app/workspace"
	"deployster/internal/base/sharedlog"
	"deployster/state"
)

// A move that is cut short anywhere is finished by the same command, and there is one state
// at most that can be used.
func TestMoveState_BegunAgain(t *testing.T) {
	for name, c := range map[string]struct{ from, to string }{
		"from a file":  {"state.json", "dir://" + filepath.Join(t.TempDir(), "state")},
		"from a store": {"dir://" + filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "state.json")},
	} {
		for _, marked := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := workspace.New(workspace.Options{Dir: t.TempDir(), DataDir: t.TempDir(), State: c.from + map[bool]string{true: "2"}[marked]})
				to := c.to + map[bool]string{true: "2"}[marked]
				from, target := w.StatePlaceAround(), w.Place(to)
				old, err := w.OpenState(t.Context(), from, "test")
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := old.Replace(old.Snapshot()); err != nil {
						t.Fatal(err)
					}
				}
				there, err := openArriving(t.Context(), w, target)
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := there.TakeOver(old); err != nil {
					t.Fatal(err)
				}
				if marked {
					err = leave(old, from, target)
				}
				if err := errors.Join(err, there.Close(), old.Close()); err != nil {
					t.Fatal(err)
				}
				if _, _, err := state.Load(w.Place(to)); !errors.Is(err, state.ErrArrives) {
					t.Errorf("it can be used before it has arrived: %v", err)
				}
				if _, _, err := state.Load(w.StatePlaceAround()); errors.Is(err, sharedlog.ErrMoved) != marked || !marked && err != nil {
					t.Errorf("where it was: %v", err)
				}
				if n, err := MoveState(t.Context(), w, to); err != nil || n != 1 {
					t.Errorf("the same command brings %d copies: %v", n, err)
				}
				if s, _, err := state.Load(w.Place(to)); err != nil || s.Serial != 2 {
					t.Errorf("then there is %+v: %v", s, err)
				}
				if _, err := MoveState(t.Context(), w, to); !errors.Is(err, sharedlog.ErrMoved) {
					t.Errorf("once more: %v", err)
				}
			})
		}
	}
}

// Who has removed the old state by hand finishes the move with the same command.
func TestMoveState_TheOldOneWasRemoved(t *testing.T) {
	w := workspace.New(workspace.Options{Dir: t.TempDir(), DataDir: t.TempDir(), State: "state.json"})
	from, to := w.StatePlaceAround(), filepath.Join(t.TempDir(), "state.json")
	if _, err := MoveState(t.Context(), w, to); err == nil || err.Error() == "" {
		t.Errorf("there is no state: %v", err)
	}
	old, err := w.OpenState(t.Context(), from, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Replace(old.Snapshot()); err != nil {
		t.Fatal(err)
	}
	there, err := openArriving(t.Context(), w, w.Place(to))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := there.TakeOver(old); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(leave(old, from, w.Place(to)), there.Close(), old.Close(), os.Remove(from.String())); err != nil {
		t.Fatal(err)
	}
	if _, _, err := state.Load(w.Place(to)); !errors.Is(err, state.ErrArrives) {
		t.Errorf("it can be used before it has arrived: %v", err)
	}
	if _, err := MoveState(t.Context(), w, to); err != nil {
		t.Error(err)
	}
	if s, _, err := state.Load(w.Place(to)); err != nil || s.Serial != 1 {
		t.Errorf("then there is %+v: %v", s, err)
	}
}

// What another project has announced is known at the new place, also after a move that was cut short.
func TestMoveState_BringsWhatIsAnnounced(t *testing.T) {
	for _, cut := range []bool{false, true} {
		w := workspace.New(workspace.Options{Dir: t.TempDir(), DataDir: t.TempDir(), State: "state.json"})
		from, to := w.StatePlaceAround(), "dir://"+filepath.Join(t.TempDir(), "state")
		old, err := w.OpenState(t.Context(), from, "test")
		if err != nil {
			t.Fatal(err)
		}
		coming := state.Announced{Address: "gate", Entry: state.Entry{Type: "acme/gate:1",
			Transfer: &state.Transfer{ID: "7", From: &state.Other{State: "/net", Lineage: "N", Address: "door"}}}}
		if err := errors.Join(old.Replace(old.Snapshot()), old.Announce(coming)); err != nil {
			t.Fatal(err)
		}
		if cut {
			there, err := openArriving(t.Context(), w, w.Place(to))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := there.TakeOver(old); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(leave(old, from, w.Place(to)), there.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := MoveState(t.Context(), w, to); err != nil {
			t.Fatal(err)
		}
		if list, err := state.AnnouncedAt(w.Place(to), w.Keys); err != nil || len(list) != 1 || list[0].Address != "gate" {
			t.Errorf("cut short: %t, announced are %+v, %v", cut, list, err)
		}
	}
}
