package watching

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
	"deployster/state"
)

// scheduled is a manifest with an operation that is due each day.
const scheduled = `
resource "a" {
  type   = "thing"
  config = {}
}
operation "nightly" {
  resource = resource.a
  run      = "count"
  schedule = "0 0 * * *"
}
`

// An operation that cannot begin is tried again after pauses that grow to ten minutes, and each reason is reported once.
func TestScheduler_TriesAgainAfterPauses(t *testing.T) {
	t.Parallel()
	s, now, reports, tries := &scheduler{tries: map[string]*try{}}, time.Now(), 0, 0
	for range 60 * 60 { // an hour of seconds
		if t := s.tries["nightly"]; t == nil || !now.Before(t.next) {
			tries++
			if s.postpone("nightly", errors.New("the host does not answer"), now) {
				reports++
			}
		}
		now = now.Add(time.Second)
	}
	if tries < 13 || tries > 17 || reports != 1 {
		t.Errorf("%d tries and %d reports in an hour", tries, reports)
	}
	if !s.postpone("nightly", errors.New("the image is gone"), now) || s.tries["nightly"].pause != time.Second {
		t.Error("another reason is not reported")
	}
}

// A turn that cannot begin, because the state cannot be read, is postponed, and does not have everything read again.
func TestScheduler_PostponesWhatCannotBegin(t *testing.T) {
	w := newWorld(t, one)
	watcher, _ := w.loaded(t)
	place := w.engine.Workspace.StatePlaceAround().String()
	if err := os.WriteFile(place, []byte("not a state"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &scheduler{w: watcher, tries: map[string]*try{}}
	s.turn(t.Context(), "nightly", state.Operation{Scheduled: state.Scheduled{Resource: "a", Run: "count"}})
	if s.tries["nightly"] == nil || len(watcher.again) > 0 {
		t.Errorf("postponed: %+v; %d requests to read everything again", s.tries, len(watcher.again))
	}
}

// A watch runs what is due once, and repairs go on.
func TestRun_RunsSchedules(t *testing.T) {
	w := &world{dir: t.TempDir(), things: map[string]thing{}, dumb: map[string]bool{}, acting: func(string) {}}
	fake, ran := runnertest.NewFake(), 0
	fake.Add("thing", func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]},"operations":{"count":{"args":["count"]}}}`)
			return 0
		}
		if s.Args[0] != "count" {
			return w.program(ctx, s, stdin, stdout, stderr)
		}
		var in protocol.OperationInput
		if json.NewDecoder(stdin).Decode(&in) != nil || in.Operation != "count" {
			return 90
		}
		w.set(func() { ran++ })
		return 0
	})
	w.engine = app.New(app.Options{Workspace: workspace.Options{Dir: w.dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }})
	t.Cleanup(w.engine.Close)
	w.declare(t, scheduled)
	w.apply(t)
	store, err := w.engine.Workspace.OpenState(t.Context(), w.engine.Workspace.StatePlaceAround(), "test")
	if err != nil {
		t.Fatal(err)
	}
	before := store.Snapshot().Clone()
	o := before.Operations["nightly"]
	o.Since = time.Now().AddDate(0, 0, -3) // three turns were missed
	before.Operations["nightly"] = o
	if err := store.Replace(before); err != nil || store.Close() != nil {
		t.Fatal(err)
	}
	w.watch(t, Options{Approve: "drift"})
	w.await(t, "operation nightly: ok")
	w.set(func() { delete(w.things, "a") })
	w.until(t, "a repair after it", func() bool { return w.things["a"].number == 2 })
	time.Sleep(1500 * time.Millisecond) // longer than the pause between two looks at the schedule
	w.until(t, "one run", func() bool { return ran == 1 })
	now, err := w.engine.Workspace.ReadState(t.Context(), w.engine.Workspace.StatePlaceAround())
	if err != nil || now.Operations["nightly"].Turn.IsZero() || len(now.Unsettled) > 0 {
		t.Errorf("%+v, %v", now.Operations, err)
	}
}
