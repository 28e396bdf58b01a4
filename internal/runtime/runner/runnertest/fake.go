package runnertest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
)

// Program is an image of the Fake. Its context ends when the program is asked to end
// (its SIGTERM). After the grace time the Fake continues without the program, whose
// writes then fail. A program gets its argument vector from Spec.Command, and finds its
// mounts with Path.
type Program func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int

// Fake is a runner.Runner in memory.
type Fake struct {
	mu       sync.Mutex
	names    map[string]string // full name -> digest
	programs map[string]Program
	files    map[string][]string // by digest: the paths that Has knows
	calls    []runner.Spec
}

// NewFake returns a Fake without images.
func NewFake() *Fake {
	return &Fake{names: map[string]string{}, programs: map[string]Program{}, files: map[string][]string{}}
}

// Add registers a program under a reference, and returns its digest. The digest is
// derived from the reference, so it is the same in every process. Adding a reference
// again replaces the program.
func (f *Fake) Add(reference string, p Program) (digest string) {
	digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(normalize(reference))))
	f.AddDigest(reference, digest, p)
	return digest
}

// AddDigest registers a program under a reference and a digest of the caller's
// choice: adding the same reference with another digest moves the tag, and the
// earlier program can still be run by its digest.
func (f *Fake) AddDigest(reference, digest string, p Program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names[normalize(reference)] = digest
	f.programs[digest] = p
}

// Remove removes an image: its name and its program.
func (f *Fake) Remove(reference string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.programs, f.names[normalize(reference)])
	delete(f.names, normalize(reference))
}

// Calls returns all invocations so far, in the order in which they were started.
func (f *Fake) Calls() []runner.Spec {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]runner.Spec(nil), f.calls...)
}

// Resolve implements runner.Runner.
func (f *Fake) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	if err := context.Cause(ctx); err != nil {
		return runner.Image{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.HasPrefix(reference, "sha256:") {
		if f.programs[reference] != nil {
			return runner.Image{Reference: reference, Digest: reference}, nil
		}
	} else if d, ok := f.names[normalize(reference)]; ok {
		return runner.Image{Reference: normalize(reference), Digest: d}, nil
	}
	return runner.Image{}, fmt.Errorf("%s: %w", reference, runner.ErrNoImage)
}

// Run implements runner.Runner.
func (f *Fake) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if ctx.Err() != nil {
		return runner.Result{}, cancelled(ctx, s)
	}
	for _, m := range s.Mounts {
		if _, err := os.Stat(m.Source); err != nil && m.Content == "" {
			return runner.Result{}, fmt.Errorf("mount of %s: %w", m.Target, err)
		}
	}
	f.mu.Lock()
	p := f.programs[s.Digest]
	if p == nil {
		f.mu.Unlock()
		return runner.Result{}, fmt.Errorf("%s: %w", s.Digest, runner.ErrNoImage)
	}
	f.calls = append(f.calls, s)
	f.mu.Unlock()
	own, err := newVolumes(s)
	if err != nil {
		return runner.Result{}, err
	}
	defer own.remove()
	s.Mounts = slices.Concat(s.Mounts, own.mounts)
	res, err := newRun(s).run(ctx, p)
	err = own.hand(s, &res, err)
	if s.Ended != nil {
		if ended := s.Ended(res, err); ended != nil {
			return res, ended
		}
	}
	return res, err
}

func cancelled(ctx context.Context, s runner.Spec) error {
	return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
}

// normalize completes a name as docker does, accurately enough for tests.
func normalize(ref string) string {
	name, digest, hasDigest := strings.Cut(ref, "@")
	if i := strings.LastIndexByte(name, ':'); !hasDigest && i <= strings.LastIndexByte(name, '/') {
		name += ":latest"
	}
	host, _, hasPath := strings.Cut(name, "/")
	switch {
	case !hasPath:
		name = "docker.io/library/" + name
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		name = "docker.io/" + name
	}
	if hasDigest {
		name += "@" + digest
	}
	return name
}

// Path translates a path in the container to a path on this host by the mounts of an
// invocation. The last mount that contains the path wins.
func Path(s runner.Spec, path string) (host string, writable, ok bool) {
	for _, m := range s.Mounts {
		if rest, in := strings.CutPrefix(path, m.Target); in && (rest == "" || rest[0] == '/') {
			host, writable, ok = m.Source+rest, m.Writable, true
		}
	}
	return host, writable, ok
}

// run is one invocation of a Fake.
type run struct {
	s              runner.Spec
	stdout, stderr *stream
	exceeded       chan struct{} // closed when stdout exceeds its limit
}

func newRun(s runner.Spec) *run {
	r := &run{s: s, exceeded: make(chan struct{})}
	r.stdout = newStream(s.Stdout, s.KeepLog, !s.Logs())
	r.stdout.limit, r.stdout.exceeded = s.MaxStdout, r.exceeded
	r.stderr = newStream(s.Stderr, s.KeepLog, false)
	return r
}

func (r *run) run(ctx context.Context, p Program) (runner.Result, error) {
	start := time.Now()
	term, sigterm := context.WithCancel(context.WithoutCancel(ctx))
	defer sigterm()
	exited := make(chan int, 1)
	go func() { exited <- p(term, r.s, newStdin(r.s.Stdin), r.stdout, r.stderr) }()

	var timeout, kill <-chan time.Time
	if r.s.Timeout > 0 {
		timeout = time.After(r.s.Timeout)
	}
	grace := r.s.Grace
	if grace == 0 {
		grace = runner.DefaultGrace
	}
	res := runner.Result{}
	var err error
	done := ctx.Done()
	exceeded := (<-chan struct{})(r.exceeded)
	for running := true; running; {
		select {
		case res.ExitCode = <-exited:
			running = false
		case <-done:
			err, done, timeout = cancelled(ctx, r.s), nil, nil
			sigterm()
			kill = time.After(grace)
		case <-timeout:
			err, timeout, done = &runner.TimeoutError{After: r.s.Timeout}, nil, nil
			sigterm()
			kill = time.After(grace)
		case <-exceeded:
			running = false
			res.ExitCode = 137
		case <-kill:
			running = false
			res.ExitCode = 137
			if t, ok := err.(*runner.TimeoutError); ok {
				t.Killed = true
			}
		}
	}
	res.Stdout, res.Stderr = r.stdout.finish(), r.stderr.finish()
	select {
	case <-r.exceeded:
		err = &runner.OutputError{Limit: r.s.MaxStdout}
	default:
	}
	res.Duration = time.Since(start)
	return res, err
}
