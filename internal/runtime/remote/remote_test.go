package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// place is a host in memory.
type place struct {
	runnertest.Runtime
	mu    sync.Mutex
	epoch int64 // the highest that was seen
	open  map[string]chan runner.Outcome

	received []byte
	files    Files // of the image that came last
}

func newPlace() *place {
	f := runnertest.NewFake()
	f.Add(runnertest.ProbeReference, runnertest.Probe)
	return &place{Runtime: runnertest.Runtime{Fake: f}, open: map[string]chan runner.Outcome{}}
}

func (p *place) Enter(_ context.Context, h Hello) (Welcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.Epoch < p.epoch && h.Epoch != 0 {
		return Welcome{}, errors.New("another one has the state now")
	}
	p.epoch = max(p.epoch, h.Epoch)
	return Welcome{Build: "b1", Boot: "boot", Facts: protocol.HostFacts{Hostname: "web1"}}, nil
}

func (p *place) Acts(_ context.Context, h Hello) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.Epoch < p.epoch {
		return errors.New("another one has the state now")
	}
	return nil
}

func (p *place) Receive(ctx context.Context, s runner.Shipment, from runner.Contents) error {
	var got []byte
	for int64(len(got)) < s.Size {
		piece, err := from.ReadContent(ctx, s.Digest, int64(len(got)), 1<<20)
		if err != nil {
			return err
		}
		got = append(got, piece...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = got
	return nil
}

func (p *place) Bring(_ context.Context, f Files, archive io.Reader) error {
	got, err := io.ReadAll(archive)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received, p.files = got, f
	return err
}

func (p *place) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }

func (p *place) Look(_ context.Context, plugs []Plug) []Seen {
	var seen []Seen
	for _, plug := range plugs {
		seen = append(seen, Seen{Path: "/real" + plug.Path})
	}
	return seen
}

func (p *place) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	p.mu.Lock()
	ends := p.open[id]
	p.mu.Unlock()
	if ends == nil {
		return runner.Outcome{Fate: runner.Unknown, Why: "no trace"}, nil
	}
	if w.Running != nil {
		w.Running()
	}
	_, _ = w.Stdout.Write([]byte("still at it\n"))
	select {
	case out := <-ends:
		return out, nil
	case <-ctx.Done():
		return runner.Outcome{}, context.Cause(ctx)
	}
}

// quick is for tests that cut connections.
func quick() Timing { return Timing{Ping: 100 * time.Millisecond, Silence: 2 * time.Second} }

// connect serves a place, and returns a client of it and what Serve returns.
func connect(t *testing.T, at Place, h Hello, timing Timing) (*Client, net.Conn, chan error) {
	t.Helper()
	local, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), there, at, timing) }()
	c, err := NewClient(context.Background(), local, h, timing)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, there, served
}

func TestClient_KeepsTheContract(t *testing.T) {
	c, _, served := connect(t, newPlace(), Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	t.Run("suite", func(t *testing.T) { runnertest.Suite(t, c) })
	if got := c.Welcome().Facts.Hostname; got != "web1" {
		t.Errorf("the host is %q", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve after goodbye: %v", err)
	}
}

// probe returns an action of the probe.
func probe(t *testing.T, c *Client, args ...string) runner.Spec {
	t.Helper()
	image, err := c.Resolve(context.Background(), runnertest.ProbeReference)
	if err != nil {
		t.Fatal(err)
	}
	return runner.Spec{Name: "web/do", Kind: runner.Action, Digest: image.Digest, Args: args, Grace: time.Second}
}

func TestClient_RecordsTheEndBeforeTheHostContinues(t *testing.T) {
	at := newPlace()
	c, _, _ := connect(t, at, Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	refused := errors.New("the disk is full")
	for _, c2 := range []struct {
		name string
		says error
	}{{"recorded", nil}, {"not recorded", refused}} {
		t.Run(c2.name, func(t *testing.T) {
			s := probe(t, c, "exit", "3")
			var heard runner.Result
			s.Ended = func(res runner.Result, err error) error {
				heard = res
				return errors.Join(err, c2.says)
			}
			res, err := c.Run(context.Background(), s)
			if res.ExitCode != 3 || heard.ExitCode != 3 {
				t.Errorf("exit codes %d and %d", res.ExitCode, heard.ExitCode)
			}
			if !errors.Is(err, c2.says) || (err == nil) != (c2.says == nil) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestClient_IsFencedByALaterOne(t *testing.T) {
	at := newPlace()
	old, _, _ := connect(t, at, Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	s := probe(t, old, "exit", "0")
	connect(t, at, Hello{Build: "b1", Epoch: 2}, DefaultTiming())
	if _, err := old.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), "another one") {
		t.Errorf("an action of the old client: %v", err)
	}
	s.Kind = runner.Query
	if _, err := old.Run(context.Background(), s); err != nil {
		t.Errorf("a query of the old client: %v", err)
	}
	local, there := net.Pipe()
	go func() { _ = Serve(context.Background(), there, at, DefaultTiming()) }() // it ends with its client
	var refused *RefusedError
	if _, err := NewClient(context.Background(), local, Hello{Build: "b1", Epoch: 1}, DefaultTiming()); !errors.As(err, &refused) {
		t.Errorf("an old client that comes again: %v", err)
	}
}

func TestClient_RefusesAnotherBuild(t *testing.T) {
	local, there := net.Pipe()
	go func() { _ = Serve(context.Background(), there, newPlace(), DefaultTiming()) }() // it ends with its client
	var refused *RefusedError
	if _, err := NewClient(context.Background(), local, Hello{Build: "b2"}, DefaultTiming()); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), `"b1"`) || !strings.Contains(err.Error(), `"b2"`) {
		t.Errorf("got %v", err)
	}
}

func TestClient_AdoptsAndIsCancelled(t *testing.T) {
	at := newPlace()
	at.open["a1"] = make(chan runner.Outcome, 1)
	c, _, _ := connect(t, at, Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	var said strings.Builder
	running := make(chan bool, 1)
	at.open["a1"] <- runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 7, Stderr: []byte("log")}}
	out, err := c.Adopt(context.Background(), "a1", runner.Watch{Stdout: &said, Running: func() { running <- true }})
	if err != nil || out.Fate != runner.Exited || out.ExitCode != 7 || string(out.Stderr) != "log" || said.String() != "still at it\n" || !<-running {
		t.Errorf("%+v, %v, said %q", out, err, said.String())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user said so")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := c.Adopt(ctx, "a1", runner.Watch{Stdout: io.Discard}); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	if out, err := c.Adopt(context.Background(), "none", runner.Watch{}); err != nil || out.Fate != runner.Unknown {
		t.Errorf("of no action: %+v, %v", out, err)
	}
}

func TestConnection_IsLost(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(c *Client, there net.Conn)
	}{
		{"closed there", func(_ *Client, there net.Conn) { _ = there.Close() }},
		{"closed here", func(c *Client, _ net.Conn) { _ = c.conn.stream.Close() }},
		{"garbage from the host", func(c *Client, there net.Conn) { _, _ = there.Write([]byte(strings.Repeat("garbage ", 9))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, there, served := connect(t, newPlace(), Hello{Build: "b1", Epoch: 1}, quick())
			s := probe(t, client, "obey")
			s.Stdout = writer(func(p []byte) (int, error) { go c.cut(client, there); return len(p), nil })
			_, err := client.Run(context.Background(), s)
			var lost *LostError
			if !errors.As(err, &lost) {
				t.Errorf("the run: %v", err)
			}
			if err := <-served; err == nil {
				t.Error("Serve takes it for a goodbye")
			}
		})
	}
}

// A peer that keeps the connection and says nothing is as one that is gone.
func TestConnection_IsLostInSilence(t *testing.T) {
	local, there := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, there) }() // it ends with the pipe
	if _, err := NewClient(context.Background(), local, Hello{}, quick()); !errors.Is(err, errSilence) {
		t.Errorf("the client: %v", err)
	}
	local, there = net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, local) }() // it ends with the pipe
	if err := Serve(context.Background(), there, newPlace(), quick()); !errors.Is(err, errSilence) {
		t.Errorf("the host: %v", err)
	}
}

// deafToClose is a stream whose reader is not woken when it is closed, as that of a process's
// standard input.
type deafToClose struct{ net.Conn }

func (deafToClose) Close() error { return nil }

// A host ends also when what it reads from stays open: the process of ssh lives on where its
// client is suspended.
func TestServe_EndsInSilenceWhoeverReads(t *testing.T) {
	local, there := net.Pipe()
	defer func() { _ = local.Close() }() // its reader ends with the test
	go func() { _, _ = io.Copy(io.Discard, local) }()
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), deafToClose{there}, newPlace(), quick()) }()
	select {
	case err := <-served:
		if !errors.Is(err, errSilence) {
			t.Errorf("the host: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the host waits for a client that says nothing")
	}
}

// slowPlace admits a client when it may.
type slowPlace struct {
	*place
	entering, may chan struct{}
}

func (p slowPlace) Enter(ctx context.Context, h Hello) (Welcome, error) {
	close(p.entering)
	<-p.may
	return p.place.Enter(ctx, h)
}

// A client that leaves while it is admitted says no goodbye: whoever serves it must not close what Enter still makes.
func TestServe_IsNotOverWhileAClientIsAdmitted(t *testing.T) {
	local, there := net.Pipe()
	at := slowPlace{newPlace(), make(chan struct{}), make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), there, at, DefaultTiming()) }()
	ctx, leave := context.WithCancel(t.Context())
	go func() { _, _ = NewClient(ctx, local, Hello{Build: "b1"}, DefaultTiming()) }() // it leaves
	<-at.entering
	leave()
	if err := <-served; err == nil {
		t.Error("Serve takes it for a goodbye")
	}
	close(at.may)
}

// A watcher that stands still holds up its own call, and costs the host no memory.
func TestOutput_WaitsForWhoWatches(t *testing.T) {
	at := newPlace()
	c, _, _ := connect(t, at, Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	s := probe(t, c, "flood", "3000000")
	stand := make(chan struct{})
	var got int
	s.Stdout = writer(func(p []byte) (int, error) {
		<-stand
		got += len(p)
		return len(p), nil
	})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(context.Background(), s)
		ended <- err
	}()
	other := probe(t, c, "exit", "0") // goes on meanwhile
	if _, err := c.Run(context.Background(), other); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(stand)
	if err := <-ended; err != nil || got != 3000000 {
		t.Errorf("%d bytes, %v", got, err)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// contents is one content, and what is asked of it.
type contents func(offset int64, n int) ([]byte, error)

func (c contents) ReadContent(_ context.Context, _ string, offset int64, n int) ([]byte, error) {
	return c(offset, n)
}

func TestClient_BringsFiles(t *testing.T) {
	at := newPlace()
	c, _, _ := connect(t, at, Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	archive, files := strings.Repeat("0123456789abcdef", 100_000), Files{Key: "k1", Name: "a", Tree: "sha256:1"}
	if err := c.Bring(t.Context(), files, iotest.HalfReader(strings.NewReader(archive))); err != nil {
		t.Fatal(err)
	}
	if string(at.received) != archive || at.files != files {
		t.Errorf("%d of %d bytes came, of %+v", len(at.received), len(archive), at.files)
	}
	err := c.Bring(t.Context(), files, iotest.ErrReader(errors.New("it is gone here")))
	if err == nil || !strings.Contains(err.Error(), "it is gone here") {
		t.Errorf("of files that cannot be read: %v", err)
	}
}

func TestClient_ShipsImages(t *testing.T) {
	at := newPlace()
	c, _, _ := connect(t, at, Hello{Build: "b1", Epoch: 1}, DefaultTiming())
	image := []byte(strings.Repeat("0123456789abcdef", 100_000))
	s := runner.Shipment{Digest: "sha256:1", Size: int64(len(image))}
	err := c.Ship(context.Background(), s, contents(func(offset int64, n int) ([]byte, error) {
		return image[offset:min(offset+int64(n), int64(len(image)))], nil
	}))
	if err != nil || string(at.received) != string(image) {
		t.Errorf("%d of %d bytes came, %v", len(at.received), len(image), err)
	}
	err = c.Ship(context.Background(), s, contents(func(int64, int) ([]byte, error) { return nil, errors.New("it is gone here") }))
	if err == nil || !strings.Contains(err.Error(), "it is gone here") {
		t.Errorf("of an image that cannot be read: %v", err)
	}
	if seen, err := c.Look(context.Background(), []Plug{{Path: "/etc"}}); err != nil || seen[0].Path != "/real/etc" {
		t.Errorf("%v, %v", seen, err)
	}
}
