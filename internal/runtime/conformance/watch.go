package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/watchclient"
)

// The requirements of a watch.
const (
	tellsWithin = 2 * time.Second
	quietFor    = 3 * time.Second
	quietAsks   = 5
)

const fixWatch = "Print one JSON object a line, {} or with \"detail\" and \"busy\": the first when everything that reports changes is " +
	"set up, and one for each change after that. Continue until stdin ends. docs/protocol.md, section 8."

// watch carries out the checks of a watch. It has the watch in progress while other
// checks change the resource.
type watch struct {
	image   *image
	started bool // the watch is in progress; otherwise the fields below have no meaning
	client  *watchclient.Client
	cancel  context.CancelFunc
	end     chan error // receives why the watch ended

	mu     sync.Mutex
	events []time.Time
	came   chan struct{} // receives a value when an event arrives
	acted  []span        // when actions were carried out
}

type span struct{ from, to time.Time }

func (w *watch) record(watchclient.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, time.Now())
	select {
	case w.came <- struct{}{}:
	default:
	}
}

// count returns how many events arrived in a span.
func (w *watch) count(in span) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.events {
		if !at.Before(in.from) && !at.After(in.to) {
			n++
		}
	}
	return n
}

// start starts the watch, in a container of its own. It ends when the resource is removed.
// The last state was VALID.
func (w *watch) start(ctx context.Context, last json.RawMessage) outcome {
	i := w.image
	switch {
	case i.ty.WatchAction == nil:
		return skip("the image does not declare \"watch_action\"")
	case i.o.Launcher == nil:
		return skip("nothing can be watched here")
	}
	in := present(i.o.Config)
	in.LastState = last
	spec, err := i.client(i.o.Workspace).WatchSpec(ctx, i.target, i.ty, in)
	if err != nil {
		return failWith(fixWatch, err)
	}
	spec.Worker = nil
	w.client = watchclient.New(watchclient.Options{Launcher: i.o.Launcher, Log: i.o.Log})
	w.end, w.came = make(chan error, 1), make(chan struct{}, 1)
	ctx, w.cancel = context.WithCancel(ctx)
	w.started = true
	began := time.Now()
	go func() {
		w.end <- w.client.Watch(ctx, &watchclient.Request{Address: i.o.Name, Reference: i.o.Image, Spec: spec}, w.record)
	}()
	late := time.NewTimer(limitOf(i))
	defer late.Stop()
	select {
	case <-w.came:
		return pass("after %s", time.Since(began).Round(time.Millisecond))
	case err := <-w.end:
		w.end <- err
		return w.failed(err)
	case <-late.C:
		w.stop()
		return fail(fixWatch, "It did not print its first line within %s.", limitOf(i))
	}
}

// stop ends the watch, if one is in progress.
func (w *watch) stop() {
	if w.started {
		w.started = false
		w.cancel()
		<-w.end
		w.client.Close()
	}
}

// failed returns the outcome for a watch that has ended by itself.
func (w *watch) failed(err error) outcome {
	w.stop()
	if errors.Is(err, watchclient.ErrFlooding) {
		return fail(fixWatch, "It %s.", err)
	}
	return failWith(fixWatch, err)
}

const fixQuiet = "Nothing changed while the state was read, so there is nothing to report: watch what is written, and not what is read " +
	"or opened."

// isQuiet queries the state several times. If a type reported an event for each query,
// deployster would query it without end.
func (w *watch) isQuiet(ctx context.Context) outcome {
	if !w.started {
		return skip("it does not watch")
	}
	began := time.Now()
	for i := range quietAsks {
		if _, err := w.image.ask(ctx, present(w.image.o.Config)); err != nil {
			return failWith(w.image.recorder.StreamHint(fixState), err)
		}
		pause(ctx, time.Until(began.Add(quietFor*time.Duration(i+1)/quietAsks)))
	}
	if n := w.count(span{began, time.Now()}); n > 0 {
		return fail(fixQuiet, "It reported %d changes within %s, while only the state was read.", n, time.Since(began).Round(time.Second))
	}
	return pass("")
}

const fixTells = "When an action has changed something, print a line: if a file is replaced by another, for instance, watch its " +
	"directory, and not the file."

// reportedAll checks that the watch has reported each change that actions made.
func (w *watch) reportedAll(ctx context.Context) outcome {
	if !w.started {
		return skip("it does not watch")
	}
	if len(w.acted) == 0 {
		return skip("nothing was changed while it watched")
	}
	for i, s := range w.acted {
		s.to = s.to.Add(tellsWithin)
		for w.count(s) == 0 {
			left := time.Until(s.to)
			if left <= 0 {
				return fail(fixTells, "It did not report change %d of %d within %s after the actions.", i+1, len(w.acted), tellsWithin)
			}
			select {
			case <-w.came:
			case <-time.After(left):
			case err := <-w.end:
				w.end <- err
				return w.failed(err)
			case <-ctx.Done():
				return skip("it was interrupted")
			}
		}
	}
	return pass("%s", words.Count(len(w.acted), "change"))
}

// noteActions records that actions were carried out from a time until now.
func (w *watch) noteActions(from time.Time) {
	if w.started {
		w.acted = append(w.acted, span{from, time.Now()})
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// limitOf returns how long a watch may take to print its first line.
func limitOf(i *image) time.Duration {
	if i.o.Timeout > 0 {
		return i.o.Timeout
	}
	return typeclient.InitTimeout
}
