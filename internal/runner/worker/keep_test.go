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

	"deployster/internal/runner"
	"deployster/internal/runner/worker"
	"deployster/protocol"
)

// keeper launches programs that can be handed over.
type keeper struct {
	runner.Launcher
	before int64 // requests of others
	no     bool  // nobody takes them

	mu    sync.Mutex
	keep  []bool // what was wanted of each that was launched
	asked []int64
	heard []int64
	said  int64
}

type handed struct {
	runner.Process
	k *keeper
}

func (k *keeper) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	p, err := k.Launcher.Launch(ctx, s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keep = append(k.keep, s.Keep)
	return &handed{p, k}, err
}

func (p *handed) Before() int64 { return p.k.before }

func (p *handed) Stdout() io.Reader { return io.TeeReader(p.Process.Stdout(), p) }

func (p *handed) Write(b []byte) (int, error) {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	p.k.said += int64(len(b))
	return len(b), nil
}

func (p *handed) Keep(asked, heard int64) bool {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	p.k.asked, p.k.heard = append(p.k.asked, asked), append(p.k.heard, heard)
	if !p.k.no {
		p.Kill() // nothing that says so is heard by the Pool
	}
	return !p.k.no
}

// Only a worker that has always been well, and has nothing to do, is kept.
func TestKeep(t *testing.T) {
	t.Parallel()
	serve := func(_ context.Context, r request) int {
		if r.Cancel {
			return -1 // it goes on
		}
		switch r.Args[0] {
		case "slow":
			time.Sleep(200 * time.Millisecond)
		case "tell":
			r.say(protocol.WorkerReply{ID: r.ID, Stdout: "it is hunter2"})
		case "die":
			return 3
		}
		r.raw("  ")
		r.say(protocol.WorkerReply{ID: r.ID, Stdout: fmt.Sprint("number ", r.ID), Exit: exit(7)})
		return -1
	}
	for _, c := range []struct {
		name string
		kept bool
		no   bool
		do   func(s *runner.Spec)
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
			k := &keeper{Launcher: im, before: 40, no: c.no}
			p := worker.New(worker.Options{Runner: im, Launcher: k, Max: 1, Keep: true, Private: func(text string) bool { return strings.Contains(text, "hunter2") }})
			s := im.spec(runner.Query, "state")
			if res, err := p.Run(t.Context(), s); err != nil || string(res.Stdout) != "number 41" {
				t.Errorf("%q, %v", res.Stdout, err)
			}
			c.do(&s)
			_, _ = p.Run(t.Context(), s) // some must fail
			p.Close()
			if !c.kept {
				if len(k.asked) > 0 {
					t.Errorf("it was handed over")
				}
				return
			}
			if len(k.asked) != 1 || k.asked[0] != 42 || k.heard[0] != k.said || !k.keep[0] {
				t.Errorf("asked %d, heard %d of %d, to be kept %v", k.asked, k.heard, k.said, k.keep)
			}
		})
	}
}

// Secrets in the environment, and who keeps nothing.
func TestKeepNot(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int { echo(r); return -1 })
	s := im.spec(runner.Query, "state")
	s.Settings.Env = map[string]string{"PASSWORD": "hunter2"}
	for _, keep := range []bool{true, false} {
		k := &keeper{Launcher: im}
		p := worker.New(worker.Options{Runner: im, Launcher: k, Keep: keep, Private: func(text string) bool { return keep && strings.Contains(text, "hunter2") }})
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Error(err)
		}
		p.Close()
		if len(k.keep) != 1 || k.keep[0] {
			t.Errorf("to be kept: %v", k.keep)
		}
	}
}
