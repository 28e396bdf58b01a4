package pod

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// inWorker is an action that a worker carries out.
func inWorker(id string, args ...string) runner.Spec {
	return runner.Spec{Name: "probe", Kind: runner.Action, ID: id, Digest: probeDigest, Args: args, Grace: time.Second,
		Worker: &runner.Worker{Digest: probeDigest, Entrypoint: "/worker"}}
}

// Actions in a worker are noted, kept and adopted like others. Of those of a worker that dies the
// outcome is unknown.
func TestAgent_AdoptsActionsOfWorkers(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	if res, err := c.Run(t.Context(), inWorker("a0", "x")); err != nil || res.ExitCode != 5 || string(res.Stdout) != "done\n" {
		t.Fatalf("%+v, %v", res, err)
	}
	go func() {
		p.until("it is requested", func() bool { return strings.HasSuffix(p.message(), "a1 begun\n") })
		_ = c.Close()
	}()
	if _, err := c.Run(t.Context(), inWorker("a1", "slow")); err == nil {
		t.Fatal("the connection was not lost")
	}
	c = p.client(hello(1, "one"))
	var shown bytes.Buffer
	if got, err := c.Adopt(t.Context(), "a1", runner.Watch{Stdout: &shown}); err != nil || got.Fate != runner.Exited || got.ExitCode != 5 ||
		shown.String() != "done\n" {
		t.Errorf("%+v, %v; shown %q", got, err, shown.String())
	}
	s := inWorker("a2", "die")
	s.Ended = func(runner.Result, error) error { return errNotRecorded }
	_, _ = c.Run(t.Context(), s)
	if got, err := c.Adopt(t.Context(), "a2", runner.Watch{}); err != nil || got.Fate != runner.Unknown || !strings.Contains(got.Why, "exit code 3") {
		t.Errorf("its worker has died: %+v, %v", got, err)
	}
	if got := p.message(); got != "a0 begun\na0 exit 5\na1 begun\na1 exit 5\na2 begun\n" {
		t.Errorf("the termination message is %q", got)
	}
}

// The termination message has room for all open actions, however many there were before.
func TestAgent_NotesManyActions(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	var all sync.WaitGroup
	for i := range 150 {
		if i%mostActions == 0 {
			all.Wait()
		}
		all.Go(func() {
			id := fmt.Sprintf("%04d%s", i, strings.Repeat("x", longestID-4))
			s := inWorker(id)
			s.Ended = func(runner.Result, error) error {
				if got := p.message(); len(got) > mostMessage || !strings.Contains(got, id+" begun\n") || !strings.Contains(got, id+" exit 5\n") {
					t.Errorf("%s: %d bytes: %q", id, len(got), got)
				}
				return nil
			}
			if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 5 {
				t.Errorf("%s: %+v, %v", id, res, err)
			}
		})
	}
	all.Wait()
	if _, err := c.Run(t.Context(), inWorker(strings.Repeat("x", longestID+1))); err == nil {
		t.Error("a longer ID is taken")
	}
	if _, err := c.Run(t.Context(), inWorker("two\nlines")); err == nil {
		t.Error("an ID with a line break is taken")
	}
}

// All of a large output is shown, and its outcome has a bounded part of it.
func TestAgent_ShowsLargeOutputs(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(hello(1, "one"))
	const size = 25 << 20
	s := shell(runner.Action, "a1", fmt.Sprintf("head -c %d /dev/zero", size))
	shown := 0
	s.Stdout = writerFunc(func(b []byte) { shown += len(b) })
	s.Ended = func(runner.Result, error) error { return errNotRecorded }
	_, _ = c.Run(t.Context(), s)
	if shown != size {
		t.Errorf("%d bytes of %d were shown", shown, size)
	}
	again := 0
	got, err := c.Adopt(t.Context(), "a1", runner.Watch{Stdout: writerFunc(func(b []byte) { again += len(b) })})
	if err != nil || len(got.Stdout) < runner.KeepOutcome || len(got.Stdout) > runner.KeepOutcome+100 || again < 4<<20 || again > 6<<20 {
		t.Errorf("%d bytes are kept, %d were shown again: %v", len(got.Stdout), again, err)
	}
}

// A record is read from its beginning as far as it is kept, by each follower at its own speed.
func TestRecord_WaitsForItsFollowers(t *testing.T) {
	t.Parallel()
	r := newRecord(10)
	var slow, gone bytes.Buffer
	done := make(chan struct{})
	var all sync.WaitGroup
	_, _ = r.Write([]byte("begin "))
	for to, done := range map[io.Writer]chan struct{}{&sleepy{&slow}: nil, &gone: done, failing{}: nil} {
		f := r.join()
		all.Go(func() { r.follow(f, to, done) })
	}
	close(done)
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range 9 {
		_, _ = r.Write(piece)
	}
	_, _ = r.Write([]byte(" end"))
	r.end()
	all.Wait()
	if n := slow.Len(); n != len("begin  end")+9<<20 || !strings.HasPrefix(slow.String(), "begin xx") || !strings.HasSuffix(slow.String(), "xx end") {
		t.Errorf("a slow follower read %d bytes", n)
	}
	if len(r.window) > again*5/4 || !strings.HasPrefix(string(r.kept()), "begin") || !strings.HasSuffix(string(r.kept()), " end") {
		t.Errorf("%d bytes are kept, and %q", len(r.window), r.kept())
	}
}

// sleepy is slow.
type sleepy struct{ to *bytes.Buffer }

func (s *sleepy) Write(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.to.Write(p)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Queries share the container: in a worker, alone, and launched.
func TestAgent_AnswersQueries(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(remote.Hello{Build: remote.AgentVersion})
	s := inWorker("")
	s.Kind = runner.Query
	if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 5 || string(res.Stdout) != "done\n" {
		t.Errorf("%+v, %v", res, err)
	}
	s = shell(runner.Query, "", "echo $0 $IMAGE $PATH $OWN")
	s.Settings.Env = map[string]string{"IMAGE": "replaced", "OWN": "set"}
	if res, err := c.Run(t.Context(), s); err != nil || string(res.Stdout) != "sh replaced /usr/sbin:/usr/bin:/sbin:/bin set\n" {
		t.Errorf("%q, %v", res.Stdout, err)
	}
	for entrypoint, want := range map[string]string{"missing": "in no directory of PATH", "/missing": "no such file"} {
		s := runner.Spec{Name: "probe", Kind: runner.Query, Digest: probeDigest, Entrypoint: entrypoint}
		if _, err := c.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entrypoint, err)
		}
	}
	s = runner.Spec{Name: "probe", Kind: runner.Query, Digest: probeDigest, Entrypoint: "sh", Args: []string{"-c", "exit 4"}}
	if res, err := c.Run(t.Context(), s); err != nil || res.ExitCode != 4 {
		t.Errorf("found on PATH: %+v, %v", res, err)
	}
}

// What the kernel has killed because memory ran out is not taken for what was killed otherwise.
func TestAgent_ReportsWhatRanOutOfMemory(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(remote.Hello{Build: remote.AgentVersion})
	for events, oom := range map[string]bool{"echo oom_kill 3 >/.deployster-run/events;": true, "": false} {
		res, err := c.Run(t.Context(), shell(runner.Query, "", "rm -f /.deployster-run/events; "+events+" kill -9 $$"))
		if err != nil || res.ExitCode != 137 || res.OOM != oom {
			t.Errorf("%q: %+v, %v", events, res, err)
		}
	}
}
