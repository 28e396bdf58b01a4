package pod

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
)

// What an action has printed is handed to who adopts it from the beginning, with its end. Its outcome
// stays until it is discarded; then there is no trace, and the ID may begin again.
func TestAgent_AdoptsActions(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	s := shell(runner.Action, "a1", "echo one; echo err >&2; while [ ! -e /.deployster-run/go ]; do sleep 0.01; done; echo two; exit 7")
	s.Stdout = writerFunc(func(b []byte) { _ = c.Close() })
	if _, err := c.Run(t.Context(), s); err == nil {
		t.Fatal("the connection was not lost")
	}
	c = p.client(hello(1, "one"))
	if runs, err := c.Running(t.Context(), "a1"); !runs || err != nil {
		t.Errorf("running: %v, %v", runs, err)
	}
	if err := c.Discard(t.Context(), "a1"); err == nil {
		t.Error("an action was discarded that runs")
	}
	var out, errs bytes.Buffer
	var running atomic.Int64
	go func() {
		p.until("it is adopted", func() bool { return running.Load() == 1 })
		_, _ = p.command("touch /.deployster-run/go")
	}()
	got, err := c.Adopt(t.Context(), "a1", runner.Watch{Running: func() { running.Add(1) }, Stdout: &out, Stderr: &errs})
	if err != nil || got.Fate != runner.Exited || got.ExitCode != 7 || string(got.Stdout) != "one\ntwo\n" || string(got.Stderr) != "err\n" ||
		out.String() != "one\ntwo\n" || errs.String() != "err\n" || got.Ended.IsZero() {
		t.Errorf("%+v, %v; shown %q and %q", got, err, out.String(), errs.String())
	}
	if got := p.message(); got != "a1 begun\na1 exit 7\n" {
		t.Errorf("the termination message is %q", got)
	}
	for range 2 { // it is the same again
		if got, err := c.Adopt(t.Context(), "a1", runner.Watch{Running: func() { t.Error("it runs") }}); err != nil || got.ExitCode != 7 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, err = c.Run(t.Context(), shell(runner.Action, "a1", "exit 0"))
	var unknown *runner.UnknownError
	if !errors.As(err, &unknown) {
		t.Errorf("begun twice: %v", err)
	}
	if err := c.Discard(t.Context(), "a1"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Adopt(t.Context(), "a1", runner.Watch{}); err != nil || !got.NoTrace || got.Fate != runner.Unknown {
		t.Errorf("discarded: %+v, %v", got, err)
	}
	s = shell(runner.Action, "a1", "cat /.deployster-run/message; exit 3")
	if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 3 || string(res.Stdout) != "a1 begun\n" {
		t.Errorf("again: %+v, %v", res, err)
	}
}

type writerFunc func(b []byte)

func (w writerFunc) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// The end of an action that its client cannot record stays.
func TestAgent_KeepsWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	s := shell(runner.Action, "a1", "echo made; exit 4")
	s.Ended = func(runner.Result, error) error { return errNotRecorded }
	if _, err := c.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), errNotRecorded.Error()) {
		t.Errorf("got %v", err)
	}
	if got, err := c.Adopt(t.Context(), "a1", runner.Watch{}); err != nil || got.ExitCode != 4 || string(got.Stdout) != "made\n" {
		t.Errorf("%+v, %v", got, err)
	}
	s = shell(runner.Action, "a2", "exit 0")
	s.Ended = func(runner.Result, error) error { return nil }
	if _, err := c.Run(t.Context(), s); err != nil {
		t.Error(err)
	}
	if got, err := c.Adopt(t.Context(), "a2", runner.Watch{}); err != nil || !got.NoTrace {
		t.Errorf("what is recorded: %+v, %v", got, err)
	}
}

// A connection that is lost ends its queries. One that is cancelled by its client ends an action too.
func TestAgent_LeavesActionsAtALoss(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	wait := "trap 'echo TERM >>/.deployster-run/'$1'; exit 9' TERM; echo ready; while :; do sleep 0.01; done"
	began, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	for id, kind := range map[string]runner.Kind{"a1": runner.Action, "query": runner.Query} {
		s := shell(kind, id, wait, id)
		s.LogStdout = true
		s.Stdout = writerFunc(func([]byte) { began <- struct{}{} })
		go func() {
			_, _ = c.Run(t.Context(), s) // it is lost
			ended <- struct{}{}
		}()
	}
	<-began
	<-began
	_ = c.Close()
	<-ended
	<-ended
	p.until("the query is cancelled", func() bool { return p.count("query") == 1 })
	if p.count("a1") != 0 {
		t.Error("the action was cancelled")
	}
	c = p.client(hello(1, "one"))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user interrupted it")
	s := shell(runner.Action, "a2", wait, "a2")
	s.Stdout = writerFunc(func([]byte) { cancel(why) })
	res, err := c.Run(ctx, s)
	if !errors.Is(err, why) || res.ExitCode != 9 || p.count("a2") != 1 || p.count("a1") != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// cutting breaks a connection after so many messages of one end.
type cutting struct {
	net.Conn
	writes, reads *atomic.Int64
	cut           func()
}

func (c cutting) Write(p []byte) (int, error) {
	if c.writes.Add(-1) == 0 {
		c.cut()
	}
	return c.Conn.Write(p)
}

func (c cutting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.reads.Add(-1) == 0 {
		c.cut()
	}
	return n, err
}

// messages is how many messages of each end are cut off in turn: an action needs fewer.
const messages = 8

// places runs images in a Pod as a cluster does. cut is called after a number of messages of either end.
func (p *podFile) places(writes, reads int64, cut func(net.Conn)) *router.Places {
	var w, r atomic.Int64
	w.Store(writes)
	r.Store(reads)
	places := router.New(router.Options{Patience: 3 * time.Second, Images: names{}, Dial: func(ctx context.Context, _ runner.Host) (*remote.Client, error) {
		conn, err := net.Dial("unix", p.dir+"/run/agent")
		if err != nil {
			return nil, err
		}
		return remote.NewClient(ctx, cutting{conn, &w, &r, func() { cut(conn) }}, hello(1, "one"), remote.DefaultTiming())
	}})
	p.t.Cleanup(places.Close)
	return places
}

// names are the names of images.
type names struct{ runner.Contents }

func (names) Shipment(context.Context, string, string) (runner.Shipment, error) {
	return runner.Shipment{}, errors.New("images are only named to a Pod")
}
func (names) Named(_ context.Context, digest string) (runner.Shipment, error) {
	return runner.Shipment{Name: digest, Digest: digest}, nil
}

// Wherever the connection breaks, an action is carried out once, and its end is known.
func TestAgent_ActsOnceWhereverTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	_ = p.dial().Close()
	for i := range 2 * messages {
		id := fmt.Sprint("a", i)
		writes, reads := int64(i+2), int64(0) // without a first connection a host is not tried again
		if i >= messages {
			writes, reads = 0, int64(i+1-messages)
		}
		places := p.places(writes, reads, func(c net.Conn) { _ = c.Close() })
		s := shell(runner.Action, id, "echo x >>/.deployster-run/$1; exit 6", id)
		s.Settings.Host = &runner.Host{Name: "pod", Address: "pod", Kubernetes: &runner.Cluster{}}
		recorded := 0
		s.Ended = func(res runner.Result, err error) error {
			recorded++
			if res.ExitCode != 6 || err != nil {
				t.Errorf("%s: recorded %+v, %v", id, res, err)
			}
			return nil
		}
		res, err := places.Run(t.Context(), s)
		if err != nil || res.ExitCode != 6 || p.count(id) != 1 || recorded != 1 {
			t.Errorf("cut after %d writes or %d reads: exit %d, %v; carried out %d times, recorded %d times", writes, reads, res.ExitCode, err,
				p.count(id), recorded)
		}
		places.Close()
	}
}

// Wherever the agent dies, what was begun is in the termination message, and what is not in it was not begun.
func TestAgent_NotesWhatBeginsWhereverItDies(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 2 * messages {
		p := newPod(t)
		pid := p.pid()
		_ = p.dial().Close()
		writes, reads := int64(i+1), int64(0)
		if i >= messages {
			writes, reads = 0, int64(i+1-messages)
		}
		all.Go(func() {
			places := p.places(writes, reads, func(net.Conn) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				p.gone()
			})
			s := shell(runner.Action, "a", "echo x >>/.deployster-run/a; exit 6")
			s.Settings.Host = &runner.Host{Name: "pod", Address: "pod", Kubernetes: &runner.Cluster{}}
			recorded := false
			s.Ended = func(runner.Result, error) error { recorded = true; return nil }
			_, err := places.Run(t.Context(), s)
			begun, ended := strings.HasPrefix(p.message(), "a begun\n"), strings.HasSuffix(p.message(), "a exit 6\n")
			if n := p.count("a"); n > 1 || n == 1 && !begun || ended && n != 1 || recorded && !ended || err == nil && !recorded {
				t.Errorf("died after %d writes or %d reads: %v; carried out %d times, message %q", writes, reads, err, n, p.message())
			}
		})
	}
	all.Wait()
}

// Of an action that got a secret an outcome without its client has the exit code, and whoever takes it over sees no output: it
// may have the value. Its environment has the variables with secrets.
func TestAgent_KeepsNoOutputOfSecrets(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	const canary = "canary-4712"
	s := shell(runner.Action, "a1", "echo $PASSWORD; echo $PASSWORD >&2; while [ ! -e /.deployster-run/go ]; do sleep 0.01; done; echo $PASSWORD; exit 7")
	s.Confidential, s.Secrets, s.SecretEnv, s.MaxStdout = true, []string{canary}, map[string]string{"PASSWORD": canary}, 1000
	live := &bytes.Buffer{}
	s.Stdout = writerFunc(func(b []byte) { live.Write(b); _ = c.Close() })
	if _, err := c.Run(t.Context(), s); err == nil || live.String() != canary+"\n" {
		t.Fatalf("the connection was not lost, or the program printed %q: %v", live, err)
	}
	c = p.client(hello(1, "one"))
	var out, errs bytes.Buffer
	go func() { _, _ = p.command("touch /.deployster-run/go") }()
	got, err := c.Adopt(t.Context(), "a1", runner.Watch{Stdout: &out, Stderr: &errs})
	if err != nil || got.Fate != runner.Exited || got.ExitCode != 7 || len(got.Stdout)+len(got.Stderr)+out.Len()+errs.Len() > 0 {
		t.Errorf("%+v, %v; shown %q and %q", got, err, out.String(), errs.String())
	}
	if all := p.message() + p.log.String(); strings.Contains(all, canary) {
		t.Errorf("it is in\n%s", all)
	}
	if err := c.Discard(t.Context(), "a1"); err != nil {
		t.Fatal(err)
	}
	s = shell(runner.Action, "a2", `echo "{\"memory\":{\"id\":1}}"; sleep 0.2`)
	s.Confidential, s.Secrets, s.MaxStdout = true, []string{canary}, 1000
	s.Stdout = writerFunc(func([]byte) { _ = c.Close() })
	_, _ = c.Run(t.Context(), s)
	c = p.client(hello(1, "one"))
	if got, err := c.Adopt(t.Context(), "a2", runner.Watch{}); err != nil || string(got.Stdout) != "{\"memory\":{\"id\":1}}\n" {
		t.Errorf("a memory without the value is not kept: %+v, %v", got, err)
	}
}
