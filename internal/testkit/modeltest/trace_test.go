package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"deployster/internal/runtime/runner"
	"deployster/internal/testkit/modeltest"
	"deployster/protocol"
)

// call is one invocation as the world saw it. Begin and End are ticks: the
// order in which things happened.
type call struct {
	Begin, End int
	Action     bool
	Step       string // "state", or the action's name
	In         modeltest.Input
	Stale      json.RawMessage // as the action was told
	Key        string          // for idempotency
	Command    protocol.Command
	Digest     string
	Answer     *protocol.Answer // of a state, when it was one
	Exit       int
	Err        error
}

// well reports whether a call did what it should.
func (c *call) well() bool { return c.Err == nil && c.Exit == 0 && (c.Action || c.Answer != nil) }

// tracer is a Runner between the engine and the world. It writes down what is
// run, and makes go wrong what is to go wrong.
type tracer struct {
	inner   runner.Runner
	journal string // the file
	told    func(text string) bool

	mu        sync.Mutex
	step      *Step
	tick      int
	calls     []*call
	applying  bool
	ticks     int            // of apply
	count     map[string]int // calls by thing and step
	hit       map[string]bool
	facts     []fact
	dead      bool // the process has crashed
	interrupt int  // the tick of it
	cancel    context.CancelFunc
	abort     chan struct{}
	intrude   func()
	died      func()   // called when it crashes
	problems  []string // seen while it ran
}

// fact is one that the journal was asked to make durable.
type fact struct {
	begin, end   int // end 0 = it was refused
	kind         string
	addr, action string
	key          string
}

var errDead = errors.New("the process has crashed")

// begin prepares for a command.
func (t *tracer) begin(s *Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step, t.calls, t.facts, t.applying, t.ticks, t.count, t.hit = s, nil, nil, false, 0, map[string]int{}, map[string]bool{}
	t.dead, t.interrupt, t.cancel, t.abort, t.intrude, t.problems = false, 0, nil, nil, nil, nil
}

// pass counts a moment of the apply, at which something may happen. It reports
// whether the process still runs, and whether it was interrupted twice here.
func (t *tracer) pass() (tick int, alive, twice bool) {
	t.mu.Lock()
	t.tick++
	tick = t.tick
	intrude := (func())(nil)
	if t.applying && !t.dead {
		t.ticks++
		s := t.step
		if t.ticks == s.CrashAt {
			if t.dead = true; t.died != nil {
				t.died()
			}
		}
		if t.ticks == s.InterruptAt {
			t.interrupt = tick
			t.cancel()
			if twice = s.Twice; twice {
				close(t.abort)
			}
		}
		if t.ticks == s.IntrudeAt {
			intrude = t.intrude
		}
	}
	alive = !t.dead
	t.mu.Unlock()
	if intrude != nil {
		intrude()
	}
	return tick, alive, twice
}

// problem takes down what is wrong while it runs.
func (t *tracer) problem(label, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, label+": "+fmt.Sprintf(format, args...))
}

// Resolve implements runner.Runner.
func (t *tracer) Resolve(ctx context.Context, ref string) (runner.Image, error) {
	return t.inner.Resolve(ctx, ref)
}

// Run implements runner.Runner.
func (t *tracer) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	ended := s.Ended
	s.Ended = nil // told when the faults are in
	result, err := t.observe(ctx, s)
	var unknown *runner.UnknownError
	if ended == nil || errors.Is(err, errDead) || errors.As(err, &unknown) {
		return result, err
	}
	if failed := ended(result, err); failed != nil {
		return result, failed
	}
	return result, err
}

func (t *tracer) observe(ctx context.Context, s runner.Spec) (runner.Result, error) {
	var in struct {
		modeltest.Input
		StaleState json.RawMessage `json:"staleState"`
		Key        string          `json:"idempotency_key"`
	}
	if err := json.Unmarshal(s.Stdin, &in); err != nil {
		return runner.Result{}, err
	}
	if len(s.Args) == 0 {
		return t.inner.Run(ctx, s) // init
	}
	c := &call{Action: s.Kind == runner.Action, Step: s.Args[0], In: in.Input, Stale: in.StaleState, Key: in.Key, Digest: s.Digest,
		Command: protocol.Command{Entrypoint: s.Entrypoint, Args: s.Args}}
	if bytes.Contains(s.Stdin, []byte(canary)) && !t.told(canary) {
		t.problem("secret", "%s of %s was given a secret that nobody was told of", c.Step, in.Name)
	}
	tick, alive, twice := t.pass()
	if !alive {
		return runner.Result{}, errDead
	}
	t.mu.Lock()
	c.Begin = tick
	if t.applying || !c.Action {
		t.calls = append(t.calls, c)
	}
	how := t.fault(c)
	t.mu.Unlock()
	if c.Action {
		t.onRecord(c)
	}
	result, err := t.execute(ctx, s, c, how, twice)
	tick, alive, _ = t.pass()
	t.mu.Lock()
	defer t.mu.Unlock()
	c.End, c.Exit, c.Err = tick, result.ExitCode, err
	if !c.Action && err == nil && result.ExitCode == 0 {
		c.Answer = read(result.Stdout, in.Kind())
	}
	if !alive {
		return runner.Result{}, errDead
	}
	return result, err
}

// onRecord looks for the intent on the disk.
func (t *tracer) onRecord(c *call) {
	key, _ := json.Marshal(c.Key) // a string
	data, err := os.ReadFile(t.journal)
	if err != nil || !bytes.Contains(data, key) {
		t.problem("intent", "%s of %s has begun, and the journal does not know it (%v)", c.Step, c.In.Name, err)
	}
}

// fault says what is to happen to a call; the lock is held.
func (t *tracer) fault(c *call) How {
	found := How("")
	for _, f := range t.step.Faults {
		if f.Thing != c.In.Thing() || f.Step != "" && f.Step != c.Step || f.Step == "" && !c.Action {
			continue
		}
		name := f.Thing + "/" + f.Step
		if !t.hit[fmt.Sprintf("%s at %d", name, c.Begin)] {
			t.hit[fmt.Sprintf("%s at %d", name, c.Begin)] = true
			t.count[name]++
		}
		if t.count[name] == f.Nth {
			found = f.How
		}
	}
	return found
}

// execute lets the world do it, or not.
func (t *tracer) execute(ctx context.Context, s runner.Spec, c *call, how How, twice bool) (runner.Result, error) {
	if twice {
		<-ctx.Done()
		return runner.Result{ExitCode: 143}, fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
	}
	plain, after := strings.CutSuffix(string(how), " after")
	with := func(flags ...string) (runner.Result, error) {
		s.Args = append(append([]string{}, s.Args...), flags...)
		if !after && c.Action {
			s.Args = append(s.Args, "--idle")
		}
		return t.inner.Run(ctx, s)
	}
	switch How(plain) {
	case Exit:
		return with("--exit=7")
	case Kill:
		return with("--exit=137")
	case Idle:
		return with()
	case Timeout:
		_, _ = with()
		return runner.Result{ExitCode: 143}, &runner.TimeoutError{After: 1}
	case Lost:
		_, _ = with()
		return runner.Result{}, &runner.UnknownError{Container: "c", Err: errors.New("the connection was lost")}
	case Transient:
		return runner.Result{Stdout: []byte(`{"error":{"class":"transient","message":"busy"}}`)}, nil
	case Denied:
		return runner.Result{Stdout: []byte(`{"error":{"class":"denied","message":"no"}}`)}, nil
	case Garbage:
		return runner.Result{Stdout: []byte(`{"status":"VALID","state":`)}, nil
	}
	return t.inner.Run(ctx, s)
}

// read reads a state's answer; nil when it is none.
func read(text []byte, kind string) *protocol.Answer {
	var a struct {
		Status     protocol.Status
		State      json.RawMessage
		Properties json.RawMessage
		StaleState json.RawMessage `json:"staleState"`
		Actions    []protocol.Action
		Shutdown   *protocol.Action `json:"shutdown_first"`
	}
	if json.Unmarshal(text, &a) != nil || a.Status == "" {
		return nil
	}
	out := &protocol.Answer{Status: a.Status, State: a.State, StaleState: a.StaleState, Actions: a.Actions, ShutdownFirst: a.Shutdown}
	if kind == modeltest.Old {
		out.State = a.Properties
	}
	if a.Status == protocol.Stale && a.StaleState == nil && kind != modeltest.Old {
		out.Status = protocol.Missing
	}
	return out
}
