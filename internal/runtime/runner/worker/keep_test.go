package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
	"deployster/protocol"
)

// launcher launches programs that can be kept.
type launcher struct {
	runner.Launcher
	before  int64 // the last request of earlier commands
	refuses bool  // to keep any

	mu      sync.Mutex
	keep    []bool  // Spec.Keep of each launch
	asked   []int64 // of each program that was to be kept
	read    []int64
	printed int64
}

type process struct {
	runner.Process
	l *launcher
}

func (l *launcher) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	p, err := l.Launcher.Launch(ctx, s)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep = append(l.keep, s.Keep)
	return &process{p, l}, err
}

func (p *process) Before() int64 { return p.l.before }

func (p *process) Stdout() io.Reader { return io.TeeReader(p.Process.Stdout(), p) }

func (p *process) Write(b []byte) (int, error) {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	p.l.printed += int64(len(b))
	return len(b), nil
}

func (p *process) Keep(asked, read int64) bool {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	p.l.asked, p.l.read = append(p.l.asked, asked), append(p.l.read, read)
	if !p.l.refuses {
		p.Kill()
	}
	return !p.l.refuses
}

// A worker is kept that has always been well, has no requests, and has seen
// nothing private.
func TestPool_KeepsWorkers(t *testing.T) {
	t.Parallel()
	serve := func(_ context.Context, r request) int {
		if r.Cancel {
			return -1 // it goes on
		}
		switch r.Args[0] {
		case "slow":
			time.Sleep(200 * time.Millisecond)
		case "tell":
			r.reply(protocol.WorkerReply{ID: r.ID, Stdout: "it is hunter2"})
		case "die":
			return 3
		}
		r.print("  ")
		r.reply(protocol.WorkerReply{ID: r.ID, Stdout: fmt.Sprint("number ", r.ID), Exit: exit(7)})
		return -1
	}
	for _, c := range []struct {
		name    string
		kept    bool
		refuses bool
		edit    func(s *runner.Spec)
	}{
		{"a query", true, false, func(*runner.Spec) {}},
		{"an action", true, false, func(s *runner.Spec) { s.Kind, s.ID = runner.Action, "id" }},
		{"not taken", true, true, func(*runner.Spec) {}},
		{"an action that is not on record", false, false, func(s *runner.Spec) {
			s.Kind, s.ID, s.Ended = runner.Action, "id", func(runner.Result, error) error { return errors.New("disk full") }
		}},
		{"a timeout", false, false, func(s *runner.Spec) { s.Args, s.Timeout, s.Grace = []string{"slow"}, time.Millisecond, time.Minute }},
		{"a private question", false, false, func(s *runner.Spec) { s.Stdin = []byte(`{"a":"hunter2"}`) }},
		{"a private answer", false, false, func(s *runner.Spec) { s.Args = []string{"tell"} }},
		{"it died", false, false, func(s *runner.Spec) { s.Args = []string{"die"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			im := newImage(serve)
			l := &launcher{Launcher: im, before: 40, refuses: c.refuses}
			p := worker.New(worker.Options{Runner: im, Launcher: l, Max: 1, Keep: true, Private: func(text string) bool { return strings.Contains(text, "hunter2") }})
			s := im.spec(runner.Query, "state")
			if res, err := p.Run(t.Context(), s); err != nil || string(res.Stdout) != "number 41" {
				t.Errorf("%q, %v", res.Stdout, err)
			}
			c.edit(&s)
			_, _ = p.Run(t.Context(), s) // some must fail
			p.Close()
			switch {
			case !c.kept && len(l.asked) > 0:
				t.Error("it was handed over")
			case c.kept && (len(l.asked) != 1 || l.asked[0] != 42 || l.read[0] != l.printed || !l.keep[0]):
				t.Errorf("asked %d, read %d of %d, to be kept %v", l.asked, l.read, l.printed, l.keep)
			}
		})
	}
}

func TestPool_KeepsNoWorker(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"with a secret in its environment": true, "unless it is asked to": false} {
		t.Run(name, func(t *testing.T) {
			im := newImage(func(_ context.Context, r request) int { echo(r); return -1 })
			s := im.spec(runner.Query, "state")
			s.Settings.Env = map[string]string{"PASSWORD": "hunter2"}
			l := &launcher{Launcher: im}
			p := worker.New(worker.Options{Runner: im, Launcher: l, Keep: keep, Private: func(text string) bool { return keep && strings.Contains(text, "hunter2") }})
			if _, err := p.Run(t.Context(), s); err != nil {
				t.Error(err)
			}
			p.Close()
			if len(l.keep) != 1 || l.keep[0] {
				t.Errorf("to be kept: %v", l.keep)
			}
		})
	}
}
