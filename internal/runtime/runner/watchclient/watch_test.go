package watchclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/watchclient"
	"deployster/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// told collects events.
type told struct {
	mu    sync.Mutex
	all   []watchclient.Event
	comes chan struct{}
}

func newTold() *told { return &told{comes: make(chan struct{}, 1000)} }

func (t *told) tell(e watchclient.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, e)
	select {
	case t.comes <- struct{}{}:
	default:
	}
}

func (t *told) events() []watchclient.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]watchclient.Event(nil), t.all...)
}

// await waits for the n-th event.
func (t *told) await(tt *testing.T, n int) []watchclient.Event {
	tt.Helper()
	late := time.After(time.Minute)
	for {
		if all := t.events(); len(all) >= n {
			return all
		}
		select {
		case <-t.comes:
		case <-late:
			tt.Fatalf("only %+v within 10s", t.events())
		}
	}
}

// alone returns a client and a request of a type whose program is given.
func alone(t *testing.T, p runnertest.Program, change ...func(*watchclient.Options)) (*watchclient.Client, watchclient.Request) {
	t.Helper()
	fake := runnertest.NewFake()
	digest := fake.Add("t", p)
	o := watchclient.Options{Launcher: fake, Grace: 200 * time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	c := watchclient.New(o)
	t.Cleanup(c.Close)
	return c, watchclient.Request{Address: "web", Reference: "t",
		Spec: runner.Spec{Name: "web/watch", Kind: runner.Query, Digest: digest, Args: []string{"watch"}, Stdin: []byte("{\"name\":\"web\"}\n")}}
}

// prints is a program that prints something, and waits for the end of its stdin.
func prints(text string) runnertest.Program {
	return func(_ context.Context, _ runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		_, _ = io.WriteString(stdout, text)
		_, _ = io.Copy(io.Discard, stdin)
		return 0
	}
}

// watch watches in the background.
func watch(ctx context.Context, c *watchclient.Client, r watchclient.Request, to *told) chan error {
	end := make(chan error, 1)
	go func() { end <- c.Watch(ctx, &r, to.tell) }()
	return end
}

// within waits for an end.
func within(t *testing.T, end chan error) error {
	t.Helper()
	select {
	case err := <-end:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it did not end")
		return nil
	}
}

func TestWatch_ReportsEachLine(t *testing.T) {
	t.Parallel()
	var stdin atomic.Value
	c, r := alone(t, func(_ context.Context, _ runner.Spec, in io.Reader, stdout, _ io.Writer) int {
		line, _ := bufio.NewReader(in).ReadString('\n')
		stdin.Store(line)
		_, _ = io.WriteString(stdout, "{}\n\n{\"detail\":\"s3cret \x1b[31m\\u001b by vim\"}\n {\"busy\":true} \n{\"busy\":false,\"detail\":\"done\"}\n{\"cut")
		_, _ = io.Copy(io.Discard, in)
		return 0
	}, func(o *watchclient.Options) {
		o.Hide = func(s string) string { return strings.ReplaceAll(s, "s3cret", "(sensitive)") }
	})
	ctx, stop := context.WithCancel(context.Background())
	to := newTold()
	end := watch(ctx, c, r, to)
	// A raw escape is no JSON.
	if err := within(t, end); !strings.Contains(err.Error(), "broke the protocol") {
		t.Fatal(err)
	}
	if all := to.events(); len(all) != 1 || !all[0].First {
		t.Errorf("before what is wrong: %+v", all)
	}
	stop()
	c, r = alone(t, prints("{}\n\n{\"detail\":\"s3cret \\u001b by vim\"}\n {\"busy\":true} \n{\"busy\":false,\"detail\":\"done\"}\n{\"cut"),
		func(o *watchclient.Options) {
			o.Hide = func(s string) string { return strings.ReplaceAll(s, "s3cret", "(sensitive)") }
		})
	ctx, stop = context.WithCancel(context.Background())
	to = newTold()
	end = watch(ctx, c, r, to)
	all := to.await(t, 4)
	if !all[0].First || all[1].First || all[2].Busy == nil || !*all[2].Busy || *all[3].Busy || all[3].Detail != "done" {
		t.Errorf("%+v", all)
	}
	if d := all[1].Detail; !strings.HasPrefix(d, "(sensitive)") || strings.Contains(d, "\x1b") {
		t.Errorf("the detail is %q", d)
	}
	stop()
	if err := within(t, end); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got, _ := stdin.Load().(string); got != "{\"name\":\"web\"}\n" {
		t.Errorf("stdin: %q", got)
	}
}

// An error shows a part of what a program printed, which may begin or end in a secret.
func TestWatch_HidesSecretsBeforeTheyAreCut(t *testing.T) {
	t.Parallel()
	const password = "a-password-of-some-length"
	for name, program := range map[string]func(context.Context, runner.Spec, io.Reader, io.Writer, io.Writer) int{
		"a line": prints("{}\n" + strings.Repeat("x", 290) + password + "\n"),
		"a log": func(_ context.Context, _ runner.Spec, _ io.Reader, _, stderr io.Writer) int {
			_, _ = io.WriteString(stderr, password+" "+strings.Repeat("y", 1990))
			return 3
		},
	} {
		c, r := alone(t, program, func(o *watchclient.Options) { o.Hide = secret.NewHider([]string{password}).Hide })
		err := within(t, watch(context.Background(), c, r, newTold()))
		if text := err.Error(); !strings.Contains(text, "xxx") && !strings.Contains(text, "yyy") || strings.Contains(text, password[:4]) ||
			strings.Contains(text, "length") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What breaks the protocol ends the program, and its error says which line it was.
func TestWatch_RefusesWhatIsNotAnEvent(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"not JSON":          "changed",
		"a list":            "[]",
		"two documents":     "{} {}",
		"unknown key":       `{"details":"x"}`,
		"detail of a kind":  `{"detail":1}`,
		"busy of a kind":    `{"busy":"yes"}`,
		"a key twice":       `{"detail":"a","detail":"b"}`,
		"invalid UTF-8":     "{\"detail\":\"\xff\"}",
		"a line too long":   `{"detail":"` + strings.Repeat("x", 16<<10) + `"}`,
		"a MiB without end": strings.Repeat("x", 1<<20),
		"an escape":         "{\"detail\":\"\x1b[2J\"}",
	} {
		c, r := alone(t, prints("{}\n"+line+"\n{}\n"))
		to := newTold()
		err := within(t, watch(context.Background(), c, r, to))
		if err == nil || !strings.Contains(err.Error(), "broke the protocol") || strings.Contains(err.Error(), "\xff") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %q", name, err)
		}
		if len(err.Error()) > 2000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		if all := to.events(); len(all) != 1 {
			t.Errorf("%s: %+v was told", name, all)
		}
	}
}

// An end that nobody asked for is an error, whatever the exit code.
func TestWatch_ReportsWhyItEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code         int
		stderr, want string
	}{
		{0, "", "ended with exit code 0"},
		{3, "no such disk\n", "no such disk"},
		{1, "inotify_init1: Too many open files\n", "fs.inotify.max_user_instances"},
		{1, "Failed to watch /etc; upper limit on inotify watches reached!\n", "fs.inotify.max_user_watches"},
	} {
		client, r := alone(t, func(_ context.Context, _ runner.Spec, _ io.Reader, stdout, stderr io.Writer) int {
			_, _ = io.WriteString(stdout, "{}\n")
			_, _ = io.WriteString(stderr, c.stderr)
			return c.code
		})
		err := within(t, watch(context.Background(), client, r, newTold()))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d %q: %v", c.code, c.stderr, err)
		}
	}
	client, r := alone(t, nil)
	r.Spec.Digest = "sha256:0"
	if err := within(t, watch(context.Background(), client, r, newTold())); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("an image that is not here: %v", err)
	}
}

// A program that ignores the end of its stdin gets SIGTERM, and one that ignores that is
// killed.
func TestWatch_EndsWhatDoesNot(t *testing.T) {
	t.Parallel()
	for _, obeys := range []bool{true, false} {
		term := make(chan struct{})
		c, r := alone(t, func(ctx context.Context, _ runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
			_, _ = io.WriteString(stdout, "{}\n")
			<-ctx.Done()
			close(term)
			for !obeys {
				if _, err := stdout.Write([]byte(" ")); err != nil {
					break // it is killed
				}
				time.Sleep(10 * time.Millisecond)
			}
			return 0
		})
		ctx, stop := context.WithCancel(context.Background())
		to := newTold()
		end := watch(ctx, c, r, to)
		to.await(t, 1)
		stop()
		if err := within(t, end); !errors.Is(err, context.Canceled) {
			t.Errorf("obeys %v: %v", obeys, err)
		}
		select {
		case <-term:
		default:
			t.Errorf("obeys %v: it got no SIGTERM", obeys)
		}
	}
}

// A flood costs one event a second, and ends the program after ten.
func TestWatch_EndsAFlood(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("{}\n", 1000)
	c, r := alone(t, func(_ context.Context, _ runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		for {
			if _, err := io.WriteString(stdout, line); err != nil {
				return 1
			}
			time.Sleep(time.Millisecond)
		}
	})
	to := newTold()
	began := time.Now()
	err := within(t, watch(context.Background(), c, r, to))
	took := time.Since(began) // longer where the program has no processor for a second: then another flood begins
	if !errors.Is(err, watchclient.ErrFlooding) || took < 10*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	// 5,000 at once, 1,000 a second, and one a second for what was not read.
	if n, most := len(to.events()), 5000+1001*int(took/time.Second+1); n < 5000 || n > most {
		t.Errorf("%d events in %s, want %d at the most", n, took, most)
	}
}

// What was exchanged for another file is not watched any more, and said so.
func TestWatch_SeesThatAPlugIsAnotherFile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"exchanged": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
		"removed": os.Remove,
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c, r := alone(t, prints("{}\n"))
		r.Spec.Mounts = []runner.Mount{{Source: path, Target: "/f"}}
		to := newTold()
		end := watch(context.Background(), c, r, to)
		to.await(t, 1)
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if err := within(t, end); !errors.Is(err, runner.ErrReplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// More than so many have no processes of their own, until one of those ends.
func TestWatch_IsBoundedWithoutAWorker(t *testing.T) {
	t.Parallel()
	c, r := alone(t, prints("{}\n"), func(o *watchclient.Options) { o.Max = 2 })
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	one, stopOne := context.WithCancel(ctx)
	to := newTold()
	first := watch(one, c, r, to)
	ends := []chan error{watch(ctx, c, r, to)}
	to.await(t, 2)
	if err := within(t, watch(ctx, c, r, to)); !errors.Is(err, watchclient.ErrCrowded) || !strings.Contains(err.Error(), "watchers = N") {
		t.Errorf("the third: %v", err)
	}
	other := r
	other.Reference = "other"
	wide := r
	wide.Spec.Settings.Watchers = 3
	ends = append(ends, watch(ctx, c, other, to), watch(ctx, c, wide, to))
	to.await(t, 4)
	stopOne()
	_ = within(t, first)
	wide.Spec.Settings.Watchers = 0
	ends = append(ends, watch(ctx, c, wide, to))
	if err := within(t, ends[len(ends)-1]); !errors.Is(err, watchclient.ErrCrowded) { // the wide one has taken a place too
		t.Errorf("%v", err)
	}
	stop()
	for _, end := range ends[:3] {
		_ = within(t, end)
	}
}

// serving is a worker that watches: serve is called for each request.
func serving(t *testing.T, serve func(ctx context.Context, r protocol.WorkerRequest, say func(protocol.WorkerReply))) (*watchclient.Client,
	func(address string) watchclient.Request, *atomic.Int32) {
	t.Helper()
	var started atomic.Int32
	program := func(_ context.Context, _ runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		started.Add(1)
		var mu sync.Mutex
		var open sync.WaitGroup
		cancels := map[int64]context.CancelFunc{}
		all, end := context.WithCancel(context.Background())
		defer open.Wait()
		defer end()
		in := bufio.NewScanner(stdin)
		for in.Scan() {
			var r protocol.WorkerRequest
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				return 2
			}
			if r.Cancel {
				if stop := cancels[r.ID]; stop != nil {
					stop()
				}
				continue
			}
			ctx, stop := context.WithCancel(all)
			cancels[r.ID] = stop
			open.Go(func() {
				serve(ctx, r, func(reply protocol.WorkerReply) {
					mu.Lock()
					defer mu.Unlock()
					b, _ := json.Marshal(reply)
					_, _ = stdout.Write(append(b, '\n'))
				})
			})
		}
		return 0
	}
	c, r := alone(t, program)
	r.Spec.Worker = &runner.Worker{Digest: r.Spec.Digest, Args: []string{"worker"}}
	return c, func(address string) watchclient.Request {
		r := r
		r.Address = address
		r.Spec.Stdin = fmt.Appendf(nil, "{\"name\":%q}\n", address)
		return r
	}, &started
}

// untilCancelled tells once, and ends when it is asked to.
func untilCancelled(ctx context.Context, r protocol.WorkerRequest, say func(protocol.WorkerReply)) {
	say(protocol.WorkerReply{ID: r.ID, Stdout: "{}\n"})
	<-ctx.Done()
	code := 143
	say(protocol.WorkerReply{ID: r.ID, Exit: &code})
}

func TestWatch_OneProcessForMany(t *testing.T) {
	t.Parallel()
	const n = 2000
	c, request, started := serving(t, func(ctx context.Context, r protocol.WorkerRequest, say func(protocol.WorkerReply)) {
		name := string(r.Stdin)
		// In pieces, and two lines in one.
		say(protocol.WorkerReply{ID: r.ID, Stdout: "{"})
		detail, _ := json.Marshal(map[string]string{"detail": name})
		say(protocol.WorkerReply{ID: r.ID, Stdout: "}\n" + string(detail) + "\n"})
		<-ctx.Done()
		code := 143
		say(protocol.WorkerReply{ID: r.ID, Exit: &code})
	})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var all []*told
	var ends []chan error
	for i := range n {
		all = append(all, newTold())
		ends = append(ends, watch(ctx, c, request(fmt.Sprint("web", i)), all[i]))
	}
	for i, to := range all {
		events := to.await(t, 2)
		if !events[0].First || events[1].Detail != fmt.Sprintf(`{"name":"web%d"}`, i) {
			t.Fatalf("web%d: %+v", i, events)
		}
	}
	if started.Load() != 1 {
		t.Errorf("%d processes", started.Load())
	}
	stop()
	for _, end := range ends {
		if err := within(t, end); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// What is wrong with one of many is its own affair.
func TestWatch_FailsOneOfMany(t *testing.T) {
	t.Parallel()
	c, request, started := serving(t, func(ctx context.Context, r protocol.WorkerRequest, say func(protocol.WorkerReply)) {
		code := 5
		switch {
		case strings.Contains(string(r.Stdin), "exits"):
			say(protocol.WorkerReply{ID: r.ID, Stderr: "no such disk\n"})
			say(protocol.WorkerReply{ID: r.ID, Exit: &code})
		case strings.Contains(string(r.Stdin), "lies"):
			say(protocol.WorkerReply{ID: r.ID, Stdout: "{}\n{\"changed\":true}\n"})
			<-ctx.Done()
			say(protocol.WorkerReply{ID: r.ID, Exit: &code})
		default:
			untilCancelled(ctx, r, say)
		}
	})
	ctx, stop := context.WithCancel(context.Background())
	to := newTold()
	good := watch(ctx, c, request("good"), to)
	to.await(t, 1)
	if err := within(t, watch(ctx, c, request("exits"), newTold())); !strings.Contains(err.Error(), "no such disk") {
		t.Error(err)
	}
	if err := within(t, watch(ctx, c, request("lies"), newTold())); !strings.Contains(err.Error(), `"changed"`) {
		t.Error(err)
	}
	select {
	case err := <-good:
		t.Fatalf("the good one ended: %v", err)
	default:
	}
	stop()
	if err := within(t, good); !errors.Is(err, context.Canceled) || started.Load() != 1 {
		t.Errorf("%v, %d processes", err, started.Load())
	}
}

// A worker that breaks the protocol is ended, all it watched with it, and not started
// again at once.
func TestWatch_EndsAWorkerWithFalseOutput(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(id int64, say func(protocol.WorkerReply)){
		"another id": func(id int64, say func(protocol.WorkerReply)) {
			say(protocol.WorkerReply{ID: id + 1000, Stdout: "{}\n"})
		},
		"twice an end": func(id int64, say func(protocol.WorkerReply)) {
			code := 0
			say(protocol.WorkerReply{ID: id, Exit: &code})
			say(protocol.WorkerReply{ID: id, Exit: &code})
		},
		"a long line": func(id int64, say func(protocol.WorkerReply)) {
			say(protocol.WorkerReply{ID: id, Stderr: strings.Repeat("x", 2<<20)})
		},
	} {
		c, request, started := serving(t, func(ctx context.Context, r protocol.WorkerRequest, reply func(protocol.WorkerReply)) {
			if strings.Contains(string(r.Stdin), "bad") {
				say(r.ID, reply)
			}
			untilCancelled(ctx, r, reply)
		})
		to := newTold()
		good := watch(context.Background(), c, request("good"), to)
		to.await(t, 1)
		bad := watch(context.Background(), c, request("bad"), newTold())
		if err := within(t, good); !strings.Contains(err.Error(), "broke the protocol") {
			t.Errorf("%s: %v", name, err)
		}
		_ = within(t, bad)
		if err := within(t, watch(context.Background(), c, request("good"), newTold())); !strings.Contains(err.Error(), "broke the protocol") ||
			started.Load() != 1 {
			t.Errorf("%s: again: %v, %d processes", name, err, started.Load())
		}
	}
}

// A worker that does not end what it is asked to end is ended, and one that has nothing
// to watch any more too.
func TestWatch_EndsAWorkerThatDoesNotCancel(t *testing.T) {
	t.Parallel()
	c, request, started := serving(t, func(ctx context.Context, r protocol.WorkerRequest, say func(protocol.WorkerReply)) {
		say(protocol.WorkerReply{ID: r.ID, Stdout: "{}\n"})
	})
	ctx, stop := context.WithCancel(context.Background())
	to, other := newTold(), newTold()
	end := watch(ctx, c, request("a"), to)
	good := watch(context.Background(), c, request("b"), other)
	to.await(t, 1)
	other.await(t, 1)
	stop()
	if err := within(t, end); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := within(t, good); !strings.Contains(err.Error(), "did not end a watch") || started.Load() != 1 {
		t.Errorf("%v, %d processes", err, started.Load())
	}
}

// A request that the worker has not read is withdrawn, and the worker goes on. One that
// reads nothing for as long as it has to end is ended.
func TestWatch_WithdrawsWhatHasNotBegun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grace, after time.Duration
		ends         bool
	}{"soon": {time.Minute, 20 * time.Millisecond, false}, "late": {200 * time.Millisecond, time.Second, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written, reads := make(chan struct{}), make(chan struct{})
			client, r := alone(t, func(ctx context.Context, _ runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
				in := bufio.NewReader(stdin)
				for id := 1; ; id++ {
					if line, err := in.ReadString('\n'); err != nil || strings.Contains(line, "cancel") {
						return 0
					}
					_, _ = fmt.Fprintf(stdout, `{"id":%d,"stdout":"{}\n"}`+"\n", id)
					if id == 1 {
						_, _ = in.Peek(1)
						close(written)
					}
					select {
					case <-reads:
					case <-ctx.Done():
						return 137
					}
				}
			}, func(o *watchclient.Options) { o.Grace = c.grace })
			r.Spec.Worker = &runner.Worker{Digest: r.Spec.Digest, Args: []string{"worker"}}
			first, second := newTold(), newTold()
			all, stopAll := context.WithCancel(t.Context())
			defer stopAll()
			ends := []chan error{watch(all, client, r, first)}
			first.await(t, 1)
			long := r
			long.Address, long.Spec.Stdin = "long", fmt.Appendf(nil, "{\"name\":%q}\n", strings.Repeat("x", 1<<20)) // fills what is between
			ends = append(ends, watch(all, client, long, second))
			<-written // and the rest of it waits to be read
			ctx, stop := context.WithTimeout(all, c.after)
			defer stop()
			if err := within(t, watch(ctx, client, r, newTold())); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if c.ends {
				if err := within(t, ends[0]); !strings.Contains(err.Error(), "does not read") {
					t.Error(err)
				}
			} else if close(reads); true {
				second.await(t, 1)
				stopAll()
				_ = within(t, ends[0])
			}
			_ = within(t, ends[1])
		})
	}
}
