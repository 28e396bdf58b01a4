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
	"time"

	"go.uber.org/goleak"

	"deployster/internal/runner"
	"deployster/internal/runner/runnertest"
	"deployster/internal/runner/worker"
	"deployster/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// image is a type whose worker is what a test makes of it. Cold runs echo.
type image struct {
	*runnertest.Fake
	digest        string
	cold, workers atomic.Int32
}

// request is a line for a worker under test.
type request struct {
	protocol.WorkerRequest
	say func(protocol.WorkerReply)
	raw func(string)
}

func exit(code int) *int { return &code }

// newImage makes one whose worker hands each request to serve, in its own
// goroutine. What serve gives is the end of the worker, unless it is negative.
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
			raw := func(line string) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.WriteString(stdout, line+"\n")
			}
			say := func(r protocol.WorkerReply) {
				b, _ := json.Marshal(r)
				raw(string(b))
			}
			var open sync.WaitGroup
			in := bufio.NewScanner(stdin)
			in.Buffer(nil, 1<<26)
			for in.Scan() {
				r := request{say: say, raw: raw}
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

// echo answers with what it was told.
func echo(r request) {
	text := "warm " + strings.Join(r.Args, " ") + " " + string(r.Stdin)
	for i := range len(text) {
		r.say(protocol.WorkerReply{ID: r.ID, Stdout: text[i : i+1]})
		r.say(protocol.WorkerReply{ID: r.ID, Stderr: "log\n"})
	}
	r.say(protocol.WorkerReply{ID: r.ID, Exit: exit(len(r.Args))})
}

// One worker carries out many at a time, each with its own outputs.
func TestManyAtATime(t *testing.T) {
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

// Other mounts or settings are another worker's; without a worker a run is
// cold.
func TestWhoIsServedByWhom(t *testing.T) {
	t.Parallel()
	im := newImage(func(_ context.Context, r request) int { echo(r); return -1 })
	p := im.pool(t, 1)
	dir := t.TempDir()
	for i, change := range []func(*runner.Spec){
		func(*runner.Spec) {},
		func(s *runner.Spec) { s.Mounts = []runner.Mount{{Source: dir, Target: "/d"}} },
		func(s *runner.Spec) { s.Mounts = []runner.Mount{{Source: dir, Target: "/d", Writable: true}} },
		func(s *runner.Spec) { s.Settings.Env = map[string]string{"A": "1"} },
		func(s *runner.Spec) { s.Worker = nil },
		func(s *runner.Spec) {},
	} {
		s := im.spec(runner.Query, "state")
		change(&s)
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Error(i, err)
		}
	}
	if im.workers.Load() != 4 || im.cold.Load() != 1 {
		t.Errorf("%d workers, %d cold runs", im.workers.Load(), im.cold.Load())
	}
	s := im.spec(runner.Query, "state")
	s.Settings.Workers = runner.NoWorkers
	if res, err := p.Run(t.Context(), s); err != nil || !strings.HasPrefix(string(res.Stdout), "cold") {
		t.Errorf("%+v, %v", res, err)
	}
}

// A slow worker gets help, up to the limit.
func TestMoreWorkers(t *testing.T) {
	t.Parallel()
	var one sync.Mutex
	im := newImage(func(_ context.Context, r request) int {
		one.Lock()
		defer one.Unlock()
		time.Sleep(20 * time.Millisecond)
		echo(r)
		return -1
	})
	p := im.pool(t, 1)
	for end := time.Now().Add(30 * time.Second); im.workers.Load() < 3 && time.Now().Before(end); {
		var wg sync.WaitGroup
		for i := range 30 {
			time.Sleep(2 * time.Millisecond)
			wg.Go(func() {
				s := im.spec(runner.Query, "state", fmt.Sprint(i))
				s.Settings.Workers = 3
				if _, err := p.Run(t.Context(), s); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if n := im.workers.Load(); n != 3 {
		t.Errorf("%d workers", n)
	}
}

// A worker that dies takes its actions along; its queries are asked again, cold.
// After some deaths nothing is left to workers.
func TestDeath(t *testing.T) {
	t.Parallel()
	im := newImage(func(ctx context.Context, r request) int {
		if r.Args[0] == "wait" {
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
		time.Sleep(20 * time.Millisecond)
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

// A request whose time is up, or that is not wanted any more, is cancelled; one
// that does not heed that costs the worker its life, but not the others theirs.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	cancelled, free := make(chan int64, 10), make(chan struct{})
	im := newImage(func(ctx context.Context, r request) int {
		switch {
		case r.Cancel:
			cancelled <- r.ID
			if r.ID == 1 {
				r.say(protocol.WorkerReply{ID: r.ID, Stderr: "all right", Exit: exit(143)})
			}
		case r.Args[0] == "wait":
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
	time.Sleep(20 * time.Millisecond)
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
	time.Sleep(20 * time.Millisecond)
	if n := im.workers.Load(); n != 2 {
		t.Errorf("%d workers: the first takes nothing more", n)
	}
	close(free)
	wg.Wait()
	if len(cancelled) != 3 {
		t.Errorf("%d were cancelled", len(cancelled))
	}
}

// What a worker says wrong ends it, and only those whose invocation it was to
// carry out.
func TestNonsense(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"hello", `{"id":99,"exit":0}`, `{"id":1,"exit":0,"more":1}`, `{"id":1,"stdout":"a","stdout":"b"}`, `{"id":"1"}`, `{"id":1} {"id":1}`,
		`{"id":1,"exit":0}` + "\n" + `{"id":1,"exit":0}`, strings.Repeat("x", 33<<20),
	} {
		im := newImage(func(_ context.Context, r request) int { r.raw(said); return -1 })
		p := im.pool(t, 1)
		_, err := p.Run(t.Context(), im.spec(runner.Action, "act"))
		var died *runner.WorkerError
		if strings.HasPrefix(said, `{"id":1,"exit":0}`) {
			if err != nil {
				t.Errorf("%.40s: %v", said, err)
			}
		} else if !errors.As(err, &died) || strings.Contains(died.Reason, "\n") || len(died.Reason) > 500 {
			t.Errorf("%.40s: %v", said, err)
		}
		p.Close()
	}
}

// Too much output is an error of the invocation; a slow watcher holds up nobody.
func TestOutputs(t *testing.T) {
	t.Parallel()
	printed := make(chan struct{})
	im := newImage(func(_ context.Context, r request) int {
		if r.Cancel {
			return -1
		}
		for range 25 {
			r.say(protocol.WorkerReply{ID: r.ID, Stdout: strings.Repeat("y", 100_000)})
		}
		r.say(protocol.WorkerReply{ID: r.ID, Exit: exit(0)})
		if r.Args[0] == "act" {
			close(printed)
		}
		return -1
	})
	p := im.pool(t, 1)
	var tooMuch *runner.OutputError
	first := im.spec(runner.Query, "state")
	first.Grace = time.Minute
	if _, err := p.Run(t.Context(), first); !errors.As(err, &tooMuch) {
		t.Errorf("got %v", err)
	}
	blocked := make(chan struct{})
	s := im.spec(runner.Action, "act")
	s.MaxStdout, s.KeepLog = 0, 1000
	var got atomic.Int64
	s.Stdout = writer(func(p []byte) (int, error) { <-blocked; got.Add(int64(len(p))); return len(p), nil })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		res, err := p.Run(t.Context(), s)
		if err != nil || len(res.Stdout) > 1100 {
			t.Errorf("%d bytes, %v", len(res.Stdout), err)
		}
	}()
	<-printed // so all of it was heard when what is said after it was
	q := im.spec(runner.Query, "state")
	q.MaxStdout = 0
	if res, err := p.Run(t.Context(), q); err != nil || len(res.Stdout) != 2_500_000 {
		t.Errorf("beside a slow one: %d bytes, %v", len(res.Stdout), err)
	}
	close(blocked)
	<-ended
	if got.Load() > 2<<20 || im.workers.Load() != 1 {
		t.Errorf("the slow watcher got %d bytes; %d workers", got.Load(), im.workers.Load())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A worker that reads nothing costs who waits for it their time, and no more.
func TestDeafWorker(t *testing.T) {
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
