package router

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// dying is a machine whose far end dies of what it is asked for.
type dying struct {
	*machine
	asked *atomic.Int64
	dies  func()
}

func (d dying) Run(context.Context, runner.Spec) (runner.Result, error) {
	d.asked.Add(1)
	d.dies()
	return runner.Result{}, errors.New("it is dead")
}

func (d dying) Running(context.Context, string) (bool, error) {
	d.asked.Add(1)
	d.dies()
	return false, errors.New("it is dead")
}

// A request of which the far end dies each time is given up. It may be reached all the while.
func TestPlaces_GiveUpWhatIsLostEachTime(t *testing.T) {
	web := newMachine("web")
	ask := func(kind runner.Kind) func(*Places) error {
		return func(p *Places) error {
			s := probe(t, p, "web", "id1", "both")
			s.Kind = kind
			_, err := p.Run(t.Context(), s)
			return err
		}
	}
	for name, ask := range map[string]func(*Places) error{
		"a query":                      ask(runner.Query),
		"an action that was not begun": ask(runner.Action),
		"a question": func(p *Places) error {
			_, err := p.AdopterFor(&runner.Host{Name: "web", Address: "web"}).Running(t.Context(), "id1")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			timing := remote.Timing{Ping: time.Hour, Silence: 2 * time.Hour}
			p := New(Options{Local: newMachine("here"), Images: images{}, Patience: time.Second,
				Dial: func(ctx context.Context, _ runner.Host) (*remote.Client, error) {
					local, there := net.Pipe()
					at := dying{web, &asked, func() { _ = there.Close() }}                    // that is the fault
					go func() { _ = remote.Serve(context.Background(), there, at, timing) }() // it dies
					return remote.NewClient(ctx, local, remote.Hello{}, timing)
				}})
			defer p.Close()
			err := ask(p)
			var gone *runner.HostError
			var unknown *runner.UnknownError
			if !errors.As(err, &gone) || errors.As(err, &unknown) || !strings.Contains(err.Error(), "3 times one after the other") {
				t.Errorf("got %v", err)
			}
			if n := asked.Load(); n != 3 { // at once, and after a second
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// The pauses grow, and come to no more than the patience.
func TestLosses_ArePatientForSoLong(t *testing.T) {
	h := &host{o: Options{Patience: DefaultPatience}}
	all := losses{waited: DefaultPatience - 3*time.Second, pause: 4 * time.Second}
	if err := all.wait(t.Context(), h, errors.New("it is lost")); err == nil {
		t.Error("it waits for longer")
	}
	var pauses []time.Duration
	for pause := nextPause(0); len(pauses) < 6; pause = nextPause(pause) {
		pauses = append(pauses, pause/time.Second)
	}
	if want := [6]time.Duration{1, 2, 4, 8, 16, 16}; [6]time.Duration(pauses) != want {
		t.Errorf("pauses of %d s, want %d", pauses, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user said so")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if err := (&losses{pause: time.Hour}).wait(ctx, &host{o: Options{Patience: 2 * time.Hour}}, errors.New("it is lost")); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

// What was removed on a host by another command is sent again over the same connection, and
// once only.
func TestPlaces_SendAgainWhatWasRemovedThere(t *testing.T) {
	web := newMachine("web")
	n := &network{machines: map[string]*machine{"web": web}}
	p := newPlaces(t, n)
	run := func(id string) error {
		s := probe(t, p, "web", id, "exit", "0")
		if id == "" {
			s.Kind = runner.Query
		}
		_, err := p.Run(t.Context(), s)
		return err
	}
	web.receive = func(runner.Shipment) { web.Add(runnertest.ProbeReference, runnertest.Probe) }
	for _, id := range []string{"", "id1", "id2"} {
		if err := run(id); err != nil {
			t.Fatal(err)
		}
		web.Remove(runnertest.ProbeReference)
	}
	var all sync.WaitGroup
	for range 8 { // all of them find that it is gone
		all.Go(func() {
			if err := run(""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if calls := len(web.Calls()); n.dialled.Load() != 1 || calls != 3+8 {
		t.Errorf("%d programs ran, over %d connections", calls, n.dialled.Load())
	}
	web.Remove(runnertest.ProbeReference)
	web.receive = nil // it is lost on its way
	clear(web.shipped)
	if err := run(""); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("one that does not arrive: %v", err)
	}
	for digest, times := range web.shipped {
		if times != 1 {
			t.Errorf("%s was sent again %d times", digest, times)
		}
	}
}

// What a host cannot answer is an error that names the host: the command skips what is there.
func TestPlaces_NameAHostThatCannotAnswer(t *testing.T) {
	pod := &runner.HostError{Host: runner.Host{Name: "d-3f9a", Address: "jobs"}, Err: errors.New("node-7 has not responded")}
	for name, c := range map[string]struct {
		broken  error
		discard bool // this error of Discard names the host too
	}{
		"a fault there":         {errors.New("the metadata is damaged"), false},
		"a machine behind host": {fmt.Errorf("adopting: %w", pod), true},
	} {
		web := newMachine("m1")
		web.broken = c.broken
		p := newPlaces(t, &network{machines: map[string]*machine{"web": web}})
		at := p.AdopterFor(&runner.Host{Name: "web", Address: "web"})
		_, adopt := at.Adopt(t.Context(), "id1", runner.Watch{})
		_, running := at.Running(t.Context(), "id1")
		discard := at.Discard(t.Context(), "id1")
		for what, err := range map[string]error{"Adopt": adopt, "Running": running, "Discard": discard} {
			of, named := errors.AsType[*runner.HostError](err)
			if named != (c.discard || what != "Discard") || named && of.Host.Name != "web" || err == nil || !strings.Contains(err.Error(), c.broken.Error()) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

// A cluster is sent the name of an image, and nothing of its content.
func TestPlaces_NameImagesToAClusterOnly(t *testing.T) {
	for _, at := range []*runner.Cluster{nil, {Namespace: "deployster"}} {
		web := newMachine("web")
		p := newPlaces(t, &network{machines: map[string]*machine{"web": web}})
		var got runner.Shipment
		web.receive = func(s runner.Shipment) { got = s }
		s := probe(t, p, "web", "", "exit", "0")
		s.Settings.Host.Kubernetes = at
		s.Kind = runner.Query
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got.Digest == "" || (got.Name == "named" && len(got.Platforms) == 1) != (at != nil) {
			t.Errorf("%v was sent %+v", at, got)
		}
	}
}
