package memagent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// Agent is the agent of one Pod. It implements fakeapi.Agent.
type Agent struct {
	runnertest.Runtime
	Path func(source string) string // the path of the source of a mount; nil = the source itself
	Step func(name string)          // called before each step of an action; nil = never

	id    string
	ctx   context.Context // ends when the agent is killed
	kill  context.CancelCauseFunc
	ended chan struct{}
	once  sync.Once

	mu      sync.Mutex
	fence   remote.Fence
	current *session // of the client that acts
	actions map[string]*action
	lines   []string // of the termination message
	term    bool
	code    int
}

// action is an action that was begun, until its end is recorded.
type action struct {
	done chan struct{}
	out  runner.Outcome
	err  error
	mu   sync.Mutex
	log  [2][]byte // what it has printed
	more chan struct{}
}

// New returns an agent that runs programs of a Fake.
func New(f *runnertest.Fake) *Agent {
	a := &Agent{Runtime: runnertest.Runtime{Fake: f}, id: rand.Text(), ended: make(chan struct{}), actions: map[string]*action{}}
	a.ctx, a.kill = context.WithCancelCause(context.Background())
	return a
}

// Timing is that of connections to agents in tests.
var Timing = remote.Timing{Ping: time.Second, Silence: 20 * time.Second}

// Talk implements fakeapi.Agent.
func (a *Agent) Talk(stream io.ReadWriteCloser) error {
	err := remote.Serve(a.ctx, stream, &session{Agent: a}, Timing)
	if a.ctx.Err() != nil {
		return errors.New("command terminated with exit code 137")
	}
	return err
}

// Terminate implements fakeapi.Agent: actions may end.
func (a *Agent) Terminate() {
	a.mu.Lock()
	a.term = true
	open := len(a.actions)
	a.mu.Unlock()
	if open == 0 {
		a.end(0)
	}
}

// Kill implements fakeapi.Agent.
func (a *Agent) Kill() { a.end(137) }

func (a *Agent) end(code int) {
	a.once.Do(func() {
		a.mu.Lock()
		a.code = code
		a.mu.Unlock()
		a.kill(errors.New("the agent was killed"))
		close(a.ended)
	})
}

// Ended implements fakeapi.Agent.
func (a *Agent) Ended() <-chan struct{} { return a.ended }

// Message implements fakeapi.Agent.
func (a *Agent) Message() (string, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.lines, ""), a.code
}

func (a *Agent) step(name string) {
	if a.Step != nil {
		a.Step(name)
	}
}

// line writes a line of the termination message, unless the agent was killed before.
func (a *Agent) line(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() == nil {
		a.lines = append(a.lines, fmt.Sprintf(format+"\n", args...))
	}
}

// session is one connection. It implements remote.Place.
type session struct {
	*Agent
	hello remote.Hello
	gone  bool // a later connection acts
}

// Enter implements remote.Place.
func (s *session) Enter(_ context.Context, h remote.Hello) (remote.Welcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hello = h
	if h.Epoch != 0 {
		if err := s.fence.Refuses(h, "this Pod"); err != nil {
			return remote.Welcome{}, err
		}
		s.fence = s.fence.Admit(h)
		if s.current != nil {
			s.current.gone = true
		}
		s.current = s
	}
	return remote.Welcome{Build: remote.AgentVersion, Boot: s.id, Facts: protocol.HostFacts{Machine: s.id}}, nil
}

// Acts implements remote.Place.
func (s *session) Acts(context.Context, remote.Hello) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acts()
}

// acts returns an error unless the session may begin an action now. The caller must hold the lock.
func (s *session) acts() error {
	switch {
	case s.gone:
		return s.fence.Taken()
	case s.hello.Epoch == 0:
		return errors.New("this client may only read")
	case s.term:
		return errors.New("the Pod is being deleted")
	}
	return nil
}

// Look implements remote.Place.
func (s *session) Look(context.Context, []remote.Plug) []remote.Seen { return nil }

// Receive implements remote.Place.
func (s *session) Receive(context.Context, runner.Shipment, runner.Contents) error {
	return nil
}

// Bring implements remote.Place.
func (s *session) Bring(context.Context, remote.Files, io.Reader) error { return nil }

// Run implements runner.Runner.
func (s *session) Run(ctx context.Context, spec runner.Spec) (runner.Result, error) {
	spec.Mounts = s.mounts(spec.Mounts)
	if spec.Kind == runner.Query {
		defer context.AfterFunc(s.ctx, func() {})()
		return s.Fake.Run(ctx, spec)
	}
	act := &action{done: make(chan struct{}), more: make(chan struct{})}
	s.mu.Lock()
	if err := s.acts(); err != nil { // decided with the note below: who adopts finds the action, or it does not begin
		s.mu.Unlock()
		return runner.Result{}, err
	}
	if s.actions[spec.ID] != nil {
		s.mu.Unlock()
		return runner.Result{}, &runner.UnknownError{Container: spec.ID, Err: errors.New("it was begun in this Pod before")}
	}
	s.actions[spec.ID] = act
	s.mu.Unlock()
	s.step("before begin")
	s.line("%s begun", spec.ID)
	s.step("begun")
	ended, out, errs := spec.Ended, spec.Stdout, spec.Stderr
	spec.Ended = nil
	spec.Stdout, spec.Stderr = &tee{act, 0, out}, &tee{act, 1, errs}
	if s.ctx.Err() != nil {
		return runner.Result{}, context.Cause(s.ctx)
	}
	res, err := s.Fake.Run(running{s.ctx, ctx}, spec)
	if s.ctx.Err() == nil {
		s.line("%s exit %d", spec.ID, res.ExitCode)
	}
	s.step("exited")
	act.out, act.err = runner.Outcome{Result: res, Fate: runner.Exited, Ended: time.Now()}, err
	close(act.done)
	recorded := error(nil)
	if ended != nil {
		recorded = ended(res, err)
	}
	s.step("recorded")
	if recorded == nil {
		_ = s.Discard(ctx, spec.ID) // never fails
	}
	return res, errors.Join(err, recorded)
}

// running ends an action when its client cancels it, and when the agent is killed, but not with the connection.
type running struct {
	context.Context
	client context.Context
}

// Done implements context.Context.
func (r running) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		select {
		case <-r.Context.Done():
		case <-r.client.Done():
		}
		close(done)
	}()
	return done
}

// Err implements context.Context.
func (r running) Err() error {
	if err := r.Context.Err(); err != nil {
		return err
	}
	return r.client.Err()
}

// mounts returns mounts with the paths of their sources.
func (a *Agent) mounts(list []runner.Mount) []runner.Mount {
	list = slices.Clone(list)
	for i := range list {
		if a.Path != nil {
			list[i].Source = a.Path(list[i].Source)
		}
	}
	return list
}

// Launch implements runner.Launcher.
func (s *session) Launch(ctx context.Context, spec runner.Spec) (runner.Process, error) {
	spec.Mounts = s.mounts(spec.Mounts)
	return s.Fake.Launch(ctx, spec)
}

// tee keeps what an action prints.
type tee struct {
	act    *action
	stream int
	to     io.Writer
}

// Write implements io.Writer.
func (t *tee) Write(p []byte) (int, error) {
	t.act.mu.Lock()
	t.act.log[t.stream] = append(t.act.log[t.stream], p...)
	t.act.mu.Unlock()
	if t.to != nil {
		_, _ = t.to.Write(p) // a watcher that fails changes nothing
	}
	return len(p), nil
}

// Adopt implements runner.Adopter.
func (a *Agent) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	a.mu.Lock()
	act := a.actions[id]
	a.mu.Unlock()
	if act == nil {
		return runner.Outcome{Fate: runner.Unknown, NoTrace: true, Why: "the agent has no record of it"}, nil
	}
	select {
	case <-act.done:
	default:
		if w.Running != nil {
			w.Running()
		}
	}
	select {
	case <-act.done:
	case <-ctx.Done():
		return runner.Outcome{}, context.Cause(ctx)
	case <-a.ctx.Done():
		return runner.Outcome{}, context.Cause(a.ctx)
	}
	act.mu.Lock()
	defer act.mu.Unlock()
	for stream, to := range []io.Writer{w.Stdout, w.Stderr} {
		if to != nil {
			_, _ = to.Write(act.log[stream]) // a watcher that fails changes nothing
		}
	}
	return act.out, act.err
}

// Discard implements runner.Adopter.
func (a *Agent) Discard(_ context.Context, id string) error {
	a.mu.Lock()
	delete(a.actions, id)
	end := a.term && len(a.actions) == 0
	a.mu.Unlock()
	if end {
		a.end(0)
	}
	return nil
}

// Running implements remote.Place.
func (a *Agent) Running(_ context.Context, id string) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	act := a.actions[id]
	if act == nil {
		return false, nil
	}
	select {
	case <-act.done:
		return false, nil
	default:
		return true, nil
	}
}

// Claim implements remote.Place.
func (*session) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }
