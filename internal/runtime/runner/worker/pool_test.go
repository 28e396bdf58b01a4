package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/worker"
	"deployster/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// image is a type whose worker a test writes. Cold runs echo their input.
type image struct {
	*runnertest.Fake
	digest        string
	cold, workers atomic.Int32
}

// request is a line for a worker under test.
type request struct {
	protocol.WorkerRequest
	reply func(protocol.WorkerReply)
	print func(string) // a line
}

func exit(code int) *int { return &code }

// newImage returns an image whose worker calls serve for each request, in its own
// goroutine. The worker exits with what serve returns, unless that is negative.
func newImage(serve func(ctx context.Context, r request) int) *image {
	im := &image{Fake: runnertest.NewFake()}
	im.digest = im.Add("t", func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) == 0 || s.Args[0] != "worker" {
			im.cold.Add(1)
			b, _ := io.ReadAll(stdin)
			_, _ = fmt.Fprintf(stdout, "cold %s %s", strings.Join(s.Args, " "), b)
			return 0
		}
		im.workers.Add(1)
		end := make(chan int, 1)
		go func() {
			var mu sync.Mutex
			print := func(line string) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.WriteString(stdout, line+"\n")
			}
			reply := func(r protocol.WorkerReply) {
				b, _ := json.Marshal(r)
				print(string(b))
			}
			var open sync.WaitGroup
			in := bufio.NewScanner(stdin)
			in.Buffer(nil, 1<<26)
			for in.Scan() {
				r := request{reply: reply, print: print}
				if json.Unmarshal(in.Bytes(), &r.WorkerRequest) != nil {
					end <- 2
					return
				}
				open.Go(func() {
					if code := serve(ctx, r); code >= 0 {
						select {
						case end <- code:
						default:
						}
					}
				})
			}
			open.Wait()
			select {
			case end <- 0:
			default:
			}
		}()
		select {
		case code := <-end:
			_, _ = io.WriteString(stderr, "bye\n")
			return code
		case <-ctx.Done():
			return 137
		}
	})
	return im
}

func (im *image) pool(t *testing.T, most int) *worker.Pool {
	p := worker.New(worker.Options{Runner: im, Launcher: im, Max: most, Grace: 2 * time.Second})
	t.Cleanup(p.Close)
	return p
}

func (im *image) spec(kind runner.Kind, args ...string) runner.Spec {
	return runner.Spec{Name: "x/" + args[0], Kind: kind, Digest: im.digest, Args: args, Stdin: []byte(`{"a":1}`), Grace: 100 * time.Millisecond,
		MaxStdout: 1000, Worker: &runner.Worker{Digest: im.digest, Args: []string{"worker"}}}
}

// echo replies with the request.
func echo(r request) {
	text := "warm " + strings.Join(r.Args, " ") + " " + string(r.Stdin)
	for i := range len(text) {
		r.reply(protocol.WorkerReply{ID: r.ID, Stdout: text[i : i+1]})
		r.reply(protocol.WorkerReply{ID: r.ID, Stderr: "log\n"})
	}
	r.reply(protocol.WorkerReply{ID: r.ID, Exit: exit(len(r.Args))})
}

func TestPool_ServesManyAtATime(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int { echo(r); return -1 })
	p := im.pool(t, 1)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			var live strings.Builder
			s := im.spec(runner.Query, "state", fmt.Sprint(i))
			s.Stderr = &live
			res, err := p.Run(t.Context(), s)
			want := fmt.Sprintf(`warm state %d {"a":1}`, i)
			if err != nil || string(res.Stdout) != want || res.ExitCode != 2 || len(res.Stderr) != 4*len(want) || live.String() != string(res.Stderr) {
				t.Errorf("%d: %+v, %v, live %d", i, res, err, live.Len())
			}
		})
	}
	wg.Wait()
	if im.workers.Load() != 1 || im.cold.Load() != 0 {
		t.Errorf("%d workers, %d cold runs", im.workers.Load(), im.cold.Load())
	}
}

func TestPool_HasWorkersByMountsAndSettings(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int { echo(r); return -1 })
	p := im.pool(t, 1)
	dir := t.TempDir()
	for _, c := range []struct {
		name    string
		change  func(*runner.Spec)
		workers int32 // so far
		cold    bool
	}{
		{"the first", func(*runner.Spec) {}, 1, false},
		{"a mount", func(s *runner.Spec) { s.Mounts = []runner.Mount{{Source: dir, Target: "/d"}} }, 2, false},
		{"a writable mount", func(s *runner.Spec) { s.Mounts = []runner.Mount{{Source: dir, Target: "/d", Writable: true}} }, 3, false},
		{"an environment", func(s *runner.Spec) { s.Settings.Env = map[string]string{"A": "1"} }, 4, false},
		{"no worker", func(s *runner.Spec) { s.Worker = nil }, 4, true},
		{"the first again", func(*runner.Spec) {}, 4, false},
		{"workers are off", func(s *runner.Spec) { s.Settings.Workers = runner.NoWorkers }, 4, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := im.spec(runner.Query, "state")
			c.change(&s)
			if res, err := p.Run(t.Context(), s); err != nil || strings.HasPrefix(string(res.Stdout), "cold") != c.cold {
				t.Errorf("%q, %v", res.Stdout, err)
			}
			if n := im.workers.Load(); n != c.workers {
				t.Errorf("%d workers", n)
			}
		})
	}
}

func TestPool_StartsMoreWorkersUpToTheLimit(t *testing.T) {
	t.Parallel()
	var one sync.Mutex
	im := newImage(func(_ context.Context, r request) int {
		one.Lock()
		defer one.Unlock()
		time.Sleep(20 * time.Millisecond)
		echo(r)
		return -1
	})
	p := im.pool(t, 3)
	many := func(settings runner.Settings) {
		var wg sync.WaitGroup
		for i := range 30 {
			time.Sleep(2 * time.Millisecond)
			wg.Go(func() {
				s := im.spec(runner.Query, "state", fmt.Sprint(i))
				s.Settings = settings
				if _, err := p.Run(t.Context(), s); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	many(runner.Settings{WholeMachine: true})
	if n := im.workers.Load(); n != 1 {
		t.Errorf("%d workers have the whole machine", n)
	}
	for end := time.Now().Add(30 * time.Second); im.workers.Load() < 4 && time.Now().Before(end); {
		many(runner.Settings{Workers: 3, WholeMachine: true})
	}
	if n := im.workers.Load(); n != 4 {
		t.Errorf("%d workers, and 3 more are allowed", n)
	}
}

// A worker that dies takes its actions along; its queries are asked again, cold.
// After some deaths everything runs cold.
func TestPool_WorkerDies(t *testing.T) {
	t.Parallel()
	waits := make(chan struct{}, 3)
	im := newImage(func(ctx context.Context, r request) int {
		if r.Args[0] == "wait" {
			waits <- struct{}{}
			<-ctx.Done()
			return -1
		}
		return 3
	})
	p := im.pool(t, 1)
	for i := range 3 {
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			res, err := p.Run(ctx, im.spec(runner.Query, "wait"))
			if err != nil || !strings.HasPrefix(string(res.Stdout), "cold wait") {
				t.Errorf("%d: a query: %+v, %v", i, res, err)
			}
		})
		<-waits
		_, err := p.Run(t.Context(), im.spec(runner.Action, "die"))
		var died *runner.WorkerError
		if !errors.As(err, &died) || !strings.Contains(err.Error(), "exit code 3") {
			t.Errorf("%d: an action: %v", i, err)
		}
		wg.Wait()
	}
	if res, err := p.Run(t.Context(), im.spec(runner.Action, "die")); err != nil || !strings.HasPrefix(string(res.Stdout), "cold") || im.workers.Load() != 3 {
		t.Errorf("after three deaths: %+v, %v, %d workers", res, err, im.workers.Load())
	}
}

// Deaths are forgiven after ten minutes: a command that lives for months has workers
// again. Until then a container is made for each invocation, ten at one time.
func TestPool_ForgivesDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		im := newImage(func(_ context.Context, r request) int {
			if r.Args[0] == "die" {
				return 3
			}
			echo(r)
			return -1
		})
		runs := &counting{Fake: im.Fake}
		p := worker.New(worker.Options{Runner: runs, Launcher: im, Max: 1, Grace: 2 * time.Second})
		defer p.Close()
		for range 3 {
			_, _ = p.Run(t.Context(), im.spec(runner.Action, "die"))
			time.Sleep(3 * time.Minute)
		}
		var many sync.WaitGroup
		for range 40 {
			many.Go(func() {
				if res, err := p.Run(t.Context(), im.spec(runner.Query, "state")); err != nil || !strings.HasPrefix(string(res.Stdout), "cold") {
					t.Errorf("after three deaths in ten minutes: %+v, %v", res, err)
				}
			})
		}
		if many.Wait(); runs.most != 10 {
			t.Errorf("%d containers at one time", runs.most)
		}
		time.Sleep(time.Minute + time.Second) // the first was ten minutes ago
		for range 40 {
			if res, err := p.Run(t.Context(), im.spec(runner.Query, "state")); err != nil || !strings.HasPrefix(string(res.Stdout), "warm") {
				t.Errorf("ten minutes after a death: %+v, %v", res, err)
			}
		}
		if n := im.workers.Load(); n != 4 {
			t.Errorf("%d workers", n)
		}
	})
}

// One that does not start counts as one that died: who waited for it runs in a container,
// and the next one has a worker.
func TestPool_WorkerDoesNotStart(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int { echo(r); return -1 })
	l := &late{Launcher: im}
	l.refusals.Store(1)
	p := worker.New(worker.Options{Runner: im, Launcher: l, Max: 1, Grace: 2 * time.Second})
	t.Cleanup(p.Close)
	for i, want := range []string{"cold", "warm", "warm"} {
		if res, err := p.Run(t.Context(), im.spec(runner.Query, "state")); err != nil || !strings.HasPrefix(string(res.Stdout), want) {
			t.Errorf("%d: %q, %v", i, res.Stdout, err)
		}
	}
	l.refusals.Store(10)
	other := im.spec(runner.Query, "state")
	other.Settings.Env = map[string]string{"A": "1"}
	for i := range 5 {
		if res, err := p.Run(t.Context(), other); err != nil || !strings.HasPrefix(string(res.Stdout), "cold") {
			t.Errorf("%d: %q, %v", i, res.Stdout, err)
		}
	}
	if tried := 10 - l.refusals.Load(); tried != 3 {
		t.Errorf("%d starts of what does not start", tried)
	}
}

// late refuses to launch some programs.
type late struct {
	runner.Launcher
	refusals atomic.Int32
}

func (l *late) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	if l.refusals.Add(-1) >= 0 {
		return nil, errors.New("the server was killed")
	}
	return l.Launcher.Launch(ctx, s)
}

// counting notes how many runs there were at one time, each of which takes a second.
type counting struct {
	*runnertest.Fake
	mu        sync.Mutex
	now, most int
}

func (c *counting) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	count := func(by int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now += by
		c.most = max(c.most, c.now)
	}
	count(1)
	defer count(-1)
	time.Sleep(time.Second)
	return c.Fake.Run(ctx, s)
}

// A request whose time is up or whose context has ended is cancelled. When it
// ignores that, its worker is ended after its other requests.
func TestPool_CancelsRequests(t *testing.T) {
	t.Parallel()
	cancelled, free, waits := make(chan int64, 10), make(chan struct{}), make(chan struct{})
	im := newImage(func(ctx context.Context, r request) int {
		switch {
		case r.Cancel:
			cancelled <- r.ID
			if r.ID == 1 {
				r.reply(protocol.WorkerReply{ID: r.ID, Stderr: "all right", Exit: exit(143)})
			}
		case r.Args[0] == "wait":
			close(waits)
			<-free
			echo(r)
		}
		return -1
	})
	p := im.pool(t, 1)
	s := im.spec(runner.Action, "obey")
	s.Timeout = 30 * time.Millisecond
	res, err := p.Run(t.Context(), s)
	var timeout *runner.TimeoutError
	if !errors.As(err, &timeout) || timeout.Killed || res.ExitCode != 143 || string(res.Stderr) != "all right" {
		t.Errorf("obeys: %+v, %v", res, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if res, err := p.Run(t.Context(), im.spec(runner.Action, "wait")); err != nil || res.ExitCode != 1 {
			t.Errorf("waits: %+v, %v", res, err)
		}
	})
	<-waits
	s.Kind, s.Args = runner.Query, []string{"ignore"}
	if _, err := p.Run(t.Context(), s); !errors.As(err, &timeout) || !timeout.Killed {
		t.Errorf("ignores: %v", err)
	}
	wg.Go(func() {
		// An action is over only when nothing of it is left.
		s := im.spec(runner.Action, "ignore")
		ctx, cancel := context.WithCancel(t.Context())
		cancelAfter := time.AfterFunc(30*time.Millisecond, cancel)
		defer cancelAfter.Stop()
		if _, err := p.Run(ctx, s); !errors.Is(err, context.Canceled) {
			t.Errorf("is cancelled: %v", err)
		}
	})
	for end := time.Now().Add(time.Minute); im.workers.Load() < 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := im.workers.Load(); n != 2 {
		t.Errorf("%d workers: the first takes nothing more", n)
	}
	close(free)
	wg.Wait()
	if len(cancelled) != 3 {
		t.Errorf("%d were cancelled", len(cancelled))
	}
}

// A line that is no reply ends the worker and its open requests.
func TestPool_WorkerPrintsNonsense(t *testing.T) {
	t.Parallel()
	one := `{"id":1,"exit":0}`
	for name, printed := range map[string]string{
		"a word": "hello", "another request": `{"id":99,"exit":0}`, "an unknown key": `{"id":1,"exit":0,"more":1}`, "a key twice": `{"id":1,"stdout":"a","stdout":"b"}`,
		"a text as id": `{"id":"1"}`, "two in a line": `{"id":1} {"id":1}`, "an endless line": strings.Repeat("x", 33<<20),
	} {
		t.Run(name, func(t *testing.T) {
			im := newImage(func(_ context.Context, r request) int { r.print(printed); return -1 })
			_, err := im.pool(t, 1).Run(t.Context(), im.spec(runner.Action, "act"))
			var died *runner.WorkerError
			if !errors.As(err, &died) || strings.Contains(died.Reason, "\n") || len(died.Reason) > 500 {
				t.Error(err)
			}
		})
	}
	t.Run("an end twice", func(t *testing.T) {
		im := newImage(func(_ context.Context, r request) int { r.print(one + "\n" + one); return -1 })
		if _, err := im.pool(t, 1).Run(t.Context(), im.spec(runner.Action, "act")); err != nil {
			t.Error(err)
		}
	})
}

func TestPool_Outputs(t *testing.T) {
	t.Parallel()
	printed := make(chan struct{})
	im := newImage(func(_ context.Context, r request) int {
		if r.Cancel {
			return -1
		}
		for range 25 {
			r.reply(protocol.WorkerReply{ID: r.ID, Stdout: strings.Repeat("y", 100_000)})
		}
		r.reply(protocol.WorkerReply{ID: r.ID, Exit: exit(0)})
		if r.Args[0] == "act" {
			close(printed)
		}
		return -1
	})
	p := im.pool(t, 1)
	t.Run("too long is an error", func(t *testing.T) {
		s := im.spec(runner.Query, "state")
		s.Grace = time.Minute
		var tooMuch *runner.OutputError
		if _, err := p.Run(t.Context(), s); !errors.As(err, &tooMuch) {
			t.Errorf("got %v", err)
		}
	})
	var got atomic.Int64
	t.Run("slow watcher holds up nobody", func(t *testing.T) {
		blocked, ended := make(chan struct{}), make(chan struct{})
		s := im.spec(runner.Action, "act")
		s.MaxStdout, s.KeepLog = 0, 1000
		s.Stdout = writer(func(p []byte) (int, error) { <-blocked; got.Add(int64(len(p))); return len(p), nil })
		go func() {
			defer close(ended)
			if res, err := p.Run(t.Context(), s); err != nil || len(res.Stdout) > 1100 {
				t.Errorf("%d bytes, %v", len(res.Stdout), err)
			}
		}()
		<-printed // so all of it was read when the next reply is
		q := im.spec(runner.Query, "state")
		q.MaxStdout = 0
		if res, err := p.Run(t.Context(), q); err != nil || len(res.Stdout) != 2_500_000 {
			t.Errorf("%d bytes, %v", len(res.Stdout), err)
		}
		close(blocked)
		<-ended
	})
	t.Run("slow watcher misses some", func(t *testing.T) {
		if got.Load() > 2<<20 {
			t.Errorf("it got %d bytes", got.Load())
		}
	})
	t.Run("one worker is enough", func(t *testing.T) {
		if im.workers.Load() != 1 {
			t.Errorf("%d workers", im.workers.Load())
		}
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A worker that reads nothing costs invocations their time, and no more.
func TestPool_WorkerReadsNothing(t *testing.T) {
	t.Parallel()
	f := runnertest.NewFake()
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	digest := f.Add("deaf", func(ctx context.Context, _ runner.Spec, _ io.Reader, _, _ io.Writer) int { <-ctx.Done(); return 137 })
	p := worker.New(worker.Options{Runner: f, Launcher: f, Max: 1, Grace: 50 * time.Millisecond})
	defer p.Close()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, err := p.Run(t.Context(), runner.Spec{Kind: runner.Query, Digest: digest, Args: []string{"state"}, Stdin: []byte("{}"), Timeout: 50 * time.Millisecond, Grace: time.Millisecond,
				Worker: &runner.Worker{Digest: digest, Args: []string{"worker"}}})
			var timeout *runner.TimeoutError
			if !errors.As(err, &timeout) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
