package programs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deployster/internal/runtime/runner"
)

// Options are the constants of a Runner.
type Options struct {
	// Image returns what an image runs by itself, and whether this container is of the image.
	Image func(digest string) (entrypoint, cmd []string, known bool)
	// Begun is called right before the program of an action starts, or before the action is requested
	// of a worker. After an error it is not begun.
	Begun func(id string) error
	// Events is the file of the container's cgroup that counts what ran out of memory.
	Events string
}

// Runner runs programs in this container. It implements runner.Runner and runner.Launcher.
type Runner struct {
	o      Options
	reaper *reaper
	env    []string
	dir    string
}

// New returns the Runner of this process, which has one.
func New(o Options) (*Runner, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return &Runner{o: o, reaper: newReaper(), env: os.Environ(), dir: dir}, nil
}

// Resolve implements runner.Runner: the images of a container are known by their digests alone.
func (r *Runner) Resolve(_ context.Context, reference string) (runner.Image, error) {
	if _, _, known := r.o.Image(reference); !known {
		return runner.Image{}, fmt.Errorf("%s: %w", reference, runner.ErrNoImage)
	}
	return runner.Image{Reference: reference, Digest: reference}, nil
}

// Run implements runner.Runner.
func (r *Runner) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if ctx.Err() != nil {
		return runner.Result{}, cancelled(ctx, s)
	}
	kills := r.oomKills()
	c, p, err := r.begin(s)
	if err != nil {
		return runner.Result{}, err
	}
	started := time.Now()
	go func() {
		_, _ = bytes.NewReader(s.Stdin).WriteTo(p.own[0]) // a program need not read it
		_ = p.own[0].Close()
	}()
	out, errs := newSink(s.Logs(), s.KeepLog, s.MaxStdout, s.Stdout), newSink(true, s.KeepLog, 0, s.Stderr)
	ended, drained := make(chan struct{}), make(chan struct{}, 2)
	for i, to := range []*sink{out, errs} {
		go func() {
			drain(to, p.own[i+1], ended)
			drained <- struct{}{}
		}()
	}
	reason := r.await(ctx, c, s, out.over)
	killAll(c.pid)
	if s.ReuseActions {
		r.reaper.killOrphans() // nobody else's: such invocations run one at a time in a Pod without workers
	}
	close(ended)
	<-drained
	<-drained
	p.close(p.own)
	if reason == nil && s.MaxStdout > 0 && out.size > s.MaxStdout {
		reason = &runner.OutputError{Limit: s.MaxStdout}
	}
	res := runner.Result{ExitCode: c.code(), Stdout: out.bytes(), Stderr: errs.bytes(), OOM: r.oomKills() > kills,
		Duration: time.Since(started)}
	if s.Ended != nil {
		if err := s.Ended(res, reason); err != nil {
			return res, err
		}
	}
	return res, reason
}

// note calls Begun for an action.
func (r *Runner) note(s runner.Spec) error {
	if r.o.Begun == nil || s.Kind != runner.Action || s.ID == "" {
		return nil
	}
	return r.o.Begun(s.ID)
}

func cancelled(ctx context.Context, s runner.Spec) error {
	return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
}

// await waits for the end of a program, and returns why it was ended; nil = by itself.
func (r *Runner) await(ctx context.Context, c *child, s runner.Spec, over <-chan struct{}) (reason error) {
	var late, kill <-chan time.Time
	if s.Timeout > 0 {
		t := time.NewTimer(s.Timeout)
		defer t.Stop()
		late = t.C
	}
	grace := s.Grace
	if grace <= 0 {
		grace = runner.DefaultGrace
	}
	done := ctx.Done()
	term := func(why error) {
		reason, done, late = why, nil, nil
		kill = time.After(grace)
		r.reaper.signal(c, syscall.SIGTERM)
	}
	for {
		select {
		case <-c.done:
			return reason
		case <-done:
			term(cancelled(ctx, s))
		case <-late:
			term(&runner.TimeoutError{After: s.Timeout})
		case <-kill:
			if t, is := reason.(*runner.TimeoutError); is {
				t.Killed = true
			}
			killAll(c.pid)
		case <-over:
			if over = nil; reason == nil {
				reason = &runner.OutputError{Limit: s.MaxStdout}
			}
			done, late = nil, nil
			killAll(c.pid)
		}
	}
}

// oomKills returns how many processes of the container were killed because memory ran out.
func (r *Runner) oomKills() int {
	text, err := os.ReadFile(r.o.Events)
	if err != nil {
		return 0 // another kind of cgroup
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if n, is := strings.CutPrefix(lines.Text(), "oom_kill "); is {
			count, _ := strconv.Atoi(n)
			return count
		}
	}
	return 0
}
