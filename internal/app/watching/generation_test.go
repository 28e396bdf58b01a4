package watching

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/notifying"
	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/app/watch/metrics"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
)

const one = `
resource "a" {
  type   = "thing"
  config = {}
}
`

// loaded returns a watch of a world that nothing drives yet, with its first generation.
func (w *world) loaded(t *testing.T) (*watcher, *generation) {
	t.Helper()
	kinds, _ := approved("drift")
	quiet := Options{Parallelism: 2, Print: func(string, ...any) {}, Record: func() Recording {
		return Recording{Records: none{}, Send: func(events.Event) {}, End: func(apply.Status) {}}
	}}
	watched := &watcher{Options: quiet, kinds: kinds, again: make(chan struct{}, 1), metrics: metrics.New(), reasons: map[string]string{},
		notes: notifying.New(t.Context(), notifying.Options{})}
	watched.engine = w.keeper(t).Child(func(events.Event) {}, none{})
	var err error
	watched.told = watched.engine.NewWatchClient()
	t.Cleanup(watched.told.Close)
	g, err := watched.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watched.take(g)
	return watched, g
}

// When nothing can be held to the state that a repair has written, all is read anew.
func TestRepair_IsFollowedByAReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	watched, g := w.loaded(t)
	w.set(func() { delete(w.things, "a") })
	wrong := *g.source
	wrong.Selection = plan.Selection{Targets: []string{"nothing"}}
	g.look.source = &wrong
	_, err := (&repairer{w: watched, look: g.look, source: g.source}).Repair(t.Context(), []string{"a"})
	if _, there := w.things["a"]; !there || !errors.Is(err, watch.ErrElsewhere) || len(watched.again) != 1 {
		t.Errorf("made: %v, %v, asked for a reload: %v", there, err, len(watched.again) == 1)
	}
}

// A process outlives the generation in which it was begun, and keeps nothing of it.
func TestGeneration_IsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	watched, g := w.loaded(t)
	ctx, stop := context.WithCancel(t.Context())
	first, ended := make(chan struct{}), make(chan error, 1)
	source := g.Source
	go func() {
		ended <- source.Watch(ctx, "a", func(e watch.SourceEvent) {
			if e.First {
				close(first)
			}
		})
	}()
	<-first
	old := weak.Make(g.look)
	next, err := watched.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watched.take(next)
	g = nil
	runtime.GC()
	if runtime.GC(); old.Value() != nil {
		t.Error("what looked before is still there")
	}
	stop()
	<-ended
	runtime.KeepAlive(source)
	if r, err := source.(heard).Source.(repairs.WatchSource).Request(t.Context(), "a"); err != nil || r.Address != "a" {
		t.Errorf("begun anew it is asked for %v, %v", r, err)
	}
}

// between is a runtime that does something once, before it resolves an image.
type between struct {
	runnertest.Runtime
	then *func()
}

func (b between) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	if then := *b.then; then != nil {
		*b.then = nil
		then()
	}
	return b.Runtime.Obtain(ctx, w)
}

// What another command records while the images are fetched is not in the state that was read,
// and is read soon.
func TestLoad_NoticesWhatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	runtime, err := w.engine.Runtime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	then := func() {
		w.declare(t, one+strings.Replace(one, `"a"`, `"b"`, 1))
		w.apply(t)
	}
	other := &world{engine: app.New(app.Options{Workspace: workspace.Options{Dir: w.dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return between{runtime.(runnertest.Runtime), &then}, nil }})}
	t.Cleanup(other.engine.Close)
	watched, g := other.loaded(t)
	if then != nil || len(g.Resources) != 1 {
		t.Fatalf("%d resources are watched", len(g.Resources))
	}
	if !watched.changedElsewhere() {
		t.Error("the state that was read counts as the present one")
	}
	next, err := watched.load(t.Context())
	if err != nil || len(next.Resources) != 2 {
		t.Fatalf("%+v, %v", next, err)
	}
	if watched.take(next); watched.changedElsewhere() {
		t.Error("and it is read again and again")
	}
}

// A program that reports changes is not run in a cluster: its resource is polled, and that is noted once.
func TestGeneration_PollsInClusters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	watched, g := w.loaded(t)
	if len(g.Resources) != 1 || !g.Resources[0].Watched || g.unreported != 0 {
		t.Fatalf("on this machine: %+v", g.Resources)
	}
	prior := g.look.prior
	entry := prior.Resources["a"]
	entry.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{}}
	prior.Resources = map[string]state.Entry{"a": entry}
	there := &generation{source: g.source, look: g.look, types: map[string]string{}, left: map[string]string{}}
	watched.fill(there, prior)
	if len(there.Resources) != 1 || there.Resources[0].Watched || there.Resources[0].Alone != pollCold {
		t.Errorf("in a cluster: %+v", there.Resources)
	}
	watched.take(there)
	lines := ""
	watched.Print = func(format string, args ...any) { lines += fmt.Sprintf(format, args...) }
	watched.loaded(watch.Loaded{First: true})
	watched.loaded(watch.Loaded{})
	if strings.Count(lines, "; 1 in clusters by polls alone, though a type reports changes") != 1 {
		t.Errorf("printed %s", lines)
	}
}
