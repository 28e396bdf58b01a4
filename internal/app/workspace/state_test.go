package workspace

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/ui/events"
	"deployster/state"
)

// A repair of a watch is worth waiting for, wherever the state lies; an apply is not.
func TestOpenState_WaitsForARepair(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "state.json"), "dir://" + filepath.Join(t.TempDir(), "state")} {
		for _, holder := range []string{"watch", "apply"} {
			told := make(chan string, 1)
			w := New(Options{Dir: t.TempDir(), DataDir: t.TempDir(), Environ: []string{fasterVariable + "=10"}, Events: func(e events.Event) {
				select {
				case told <- e.Message:
				default:
				}
			}})
			held, err := w.OpenState(t.Context(), w.Place(name), holder)
			if err != nil {
				t.Fatal(err)
			}
			closed := make(chan error, 1)
			if holder == "apply" {
				if _, err := w.OpenState(t.Context(), w.Place(name), "apply"); !errors.Is(err, state.ErrLocked) {
					t.Errorf("%s: beside an apply: %v", name, err)
				}
				closed <- held.Close()
			} else {
				go func() {
					select {
					case text := <-told:
						if !strings.Contains(text, "deployster watch (process ") {
							t.Errorf("%s: it is told %q", name, text)
						}
					case <-time.After(time.Minute):
						t.Errorf("%s: nobody was told to wait", name)
					}
					closed <- held.Close()
				}()
				next, err := w.OpenState(t.Context(), w.Place(name), "apply")
				if err != nil {
					t.Fatalf("%s: beside a repair: %v", name, err)
				}
				if err := next.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
		}
	}
}
