package router

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// machine is a host in memory. What is begun there goes on when its client is lost,
// and can be adopted.
type machine struct {
	runnertest.Runtime
	id, boot string

	mu      sync.Mutex
	actions map[string]*begun
	shipped map[string]int
	files   map[string]int64 // by key: how many bytes came
	receive func(runner.Shipment)
	broken  error // why it cannot answer for actions; nil = it can

	serving sync.WaitGroup // far ends
}

// begun is an action.
type begun struct {
	times int
	ended chan struct{}
	out   runner.Outcome

	printed []byte // on stdout
}

// tee keeps what an action prints, and shows it to who watches.
type tee struct {
	m  *machine
	b  *begun
	to io.Writer
}

func (t tee) Write(p []byte) (int, error) {
	t.m.mu.Lock()
	t.b.printed = append(t.b.printed, p...)
	t.m.mu.Unlock()
	if t.to != nil {
		_, _ = t.to.Write(p) // who watches may be gone
	}
	return len(p), nil
}

func newMachine(id string) *machine {
	f := runnertest.NewFake()
	f.Add(runnertest.ProbeReference, runnertest.Probe)
	return &machine{Runtime: runnertest.Runtime{Fake: f}, id: id, boot: "b", actions: map[string]*begun{}, shipped: map[string]int{},
		files: map[string]int64{}}
}

func (m *machine) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }

func (m *machine) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	return remote.Welcome{Boot: m.boot, Facts: protocol.HostFacts{Machine: m.id}}, nil
}
func (m *machine) Acts(context.Context, remote.Hello) error { return nil }
func (m *machine) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	return make([]remote.Seen, len(plugs))
}
func (m *machine) Receive(_ context.Context, s runner.Shipment, _ runner.Contents) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shipped[s.Digest]++
	if m.receive != nil {
		m.receive(s)
	}
	return nil
}

func (m *machine) Bring(_ context.Context, f remote.Files, archive io.Reader) error {
	got, err := io.Copy(io.Discard, archive)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[f.Key] = got
	return err
}

func (m *machine) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Mounts = slices.DeleteFunc(s.Mounts, func(m runner.Mount) bool { return strings.HasPrefix(m.Source, "artifact:") })
	if s.Kind == runner.Query {
		return m.Fake.Run(ctx, s)
	}
	m.mu.Lock()
	b := m.actions[s.ID]
	if b == nil {
		b = &begun{}
		m.actions[s.ID] = b
	}
	b.times++
	b.ended = make(chan struct{})
	m.mu.Unlock()
	ended, recorded := s.Ended, error(nil)
	s.Ended, s.Stdout = nil, tee{m, b, s.Stdout}
	res, err := m.Fake.Run(context.WithoutCancel(ctx), s)
	b.out = runner.Outcome{Result: res, Fate: runner.Exited}
	close(b.ended)
	if ended != nil {
		recorded = ended(res, err)
	}
	return res, errors.Join(err, recorded)
}

func (m *machine) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	if m.broken != nil {
		return runner.Outcome{}, m.broken
	}
	m.mu.Lock()
	b := m.actions[id]
	m.mu.Unlock()
	if b == nil {
		return runner.Outcome{Fate: runner.Unknown, NoTrace: true, Why: "no trace"}, nil
	}
	w.Running()
	at := m.show(b, 0, w)
	select {
	case <-b.ended:
		m.show(b, at, w)
		return b.out, nil
	case <-ctx.Done():
		return runner.Outcome{}, context.Cause(ctx)
	}
}

func (m *machine) Running(context.Context, string) (bool, error) { return false, m.broken }

func (m *machine) Discard(context.Context, string) error { return m.broken }

// show hands out what an action has printed since.
func (m *machine) show(b *begun, since int, w runner.Watch) int {
	m.mu.Lock()
	all := b.printed
	m.mu.Unlock()
	_, _ = w.Stdout.Write(all[since:]) // who watches may be gone
	return len(all)
}

// images ships nothing but names.
type images struct{ runner.Contents }

func (images) Shipment(_ context.Context, digest, _ string) (runner.Shipment, error) {
	return runner.Shipment{Digest: digest}, nil
}

func (images) Named(_ context.Context, digest string) (runner.Shipment, error) {
	return runner.Shipment{Name: "named", Digest: digest, Platforms: []string{"linux/arm64"}}, nil
}

// cutting is a stream that breaks after so many writes.
type cutting struct {
	net.Conn
	left *atomic.Int64
}

func (c cutting) Write(p []byte) (int, error) {
	if c.left.Add(-1) == 0 {
		_ = c.Conn.Close() // that is the fault
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(p)
}

// network dials machines by their addresses, over streams that break.
type network struct {
	machines map[string]*machine
	local    atomic.Int64 // writes of clients until one fails; 0 = none does
	there    atomic.Int64 // the same of hosts
	dialled  atomic.Int64
}

func (n *network) dial(ctx context.Context, h runner.Host) (*remote.Client, error) {
	n.dialled.Add(1)
	m := n.machines[h.Address]
	if m == nil {
		return nil, errors.New("connection refused")
	}
	m.serving.Wait() // the far end before is dead
	local, there := net.Pipe()
	timing := remote.Timing{Ping: time.Hour, Silence: 2 * time.Hour}
	m.serving.Go(func() { _ = remote.Serve(context.Background(), cutting{there, &n.there}, m, timing) }) // a lost client is no fault
	return remote.NewClient(ctx, cutting{local, &n.local}, remote.Hello{}, timing)
}

func newPlaces(t *testing.T, n *network) *Places {
	t.Helper()
	p := New(Options{Local: newMachine("here"), Images: images{}, Dial: n.dial, Patience: time.Second})
	t.Cleanup(p.Close)
	return p
}

// probe returns an invocation of the probe on a host.
func probe(t *testing.T, p *Places, host, id string, args ...string) runner.Spec {
	t.Helper()
	image, err := p.Resolve(context.Background(), runnertest.ProbeReference)
	if err != nil {
		t.Fatal(err)
	}
	s := runner.Spec{Name: "a/do", Kind: runner.Action, ID: id, Digest: image.Digest, Args: args, Grace: time.Second}
	if host != "" {
		s.Settings.Host = &runner.Host{Name: host, Address: host}
	}
	return s
}

func TestPlaces_KeepTheContract(t *testing.T) {
	web := newMachine("web")
	p := newPlaces(t, &network{machines: map[string]*machine{"web": web}})
	t.Run("suite", func(t *testing.T) { runnertest.RunnerSuite(t, onHost{p, runner.Host{Name: "web", Address: "web"}}) })
	if len(web.shipped) == 0 {
		t.Error("nothing was shipped: it ran elsewhere")
	}
	for digest, n := range web.shipped {
		if n != 1 && !strings.HasSuffix(digest, "0000") {
			t.Errorf("%s was shipped %d times", digest, n)
		}
	}
}

// onHost runs everything on a host.
type onHost struct {
	*Places
	host runner.Host
}

func (o onHost) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Settings.Host = &o.host
	return o.Places.Run(ctx, s)
}

func TestPlaces_RunWhereTheSettingsSet(t *testing.T) {
	n := &network{machines: map[string]*machine{"a": newMachine("a"), "b": newMachine("b")}}
	p := newPlaces(t, n)
	for _, host := range []string{"a", "b", "b"} {
		if _, err := p.Run(context.Background(), probe(t, p, host, host, "exit", "0")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Run(context.Background(), probe(t, p, "", "here", "exit", "0")); err != nil {
		t.Fatal(err)
	}
	if a, b := n.machines["a"].actions["a"].times, n.machines["b"].actions["b"].times; a != 1 || b != 2 || n.dialled.Load() != 2 {
		t.Errorf("a %d, b %d, %d connections", a, b, n.dialled.Load())
	}
}

// A connection may break at any message. The action is carried out once, and its
// end is told once.
func TestPlaces_ActOnceWhateverIsLost(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, 3<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	files := runner.Mount{Source: artifact.MountSource("k1", ""), Target: "/in", Files: &runner.Files{Dir: dir, Key: "k1", Name: "a"}}
	for _, side := range []string{"here", "there"} {
		for at := int64(1); at <= 24; at++ {
			t.Run(fmt.Sprintf("%s/%d", side, at), func(t *testing.T) {
				web := newMachine("web")
				n := &network{machines: map[string]*machine{"web": web}}
				p := newPlaces(t, n)
				if _, err := p.Welcome(context.Background(), runner.Host{Name: "web", Address: "web"}); err != nil {
					t.Fatal(err)
				}
				if side == "here" {
					n.local.Store(at)
				} else {
					n.there.Store(at)
				}
				s := probe(t, p, "web", "id1", "both")
				s.Stdout, s.Mounts = io.Discard, []runner.Mount{files}
				told := 0
				s.Ended = func(res runner.Result, err error) error { told++; return err }
				res, err := p.Run(context.Background(), s)
				if err != nil || res.ExitCode != 0 || told != 1 {
					t.Errorf("exit %d, error %v, told %d times", res.ExitCode, err, told)
				}
				if got := web.files["k1"]; got < 3<<20 {
					t.Errorf("%d bytes of the files came", got)
				}
				if times := web.actions["id1"].times; times != 1 {
					t.Errorf("it was done %d times", times)
				}
			})
		}
	}
}

// The next far end of a machine knows nothing of what was sent to the one before.
func TestPlaces_SendAgainOverANewConnection(t *testing.T) {
	web := newMachine("web")
	p := newPlaces(t, &network{machines: map[string]*machine{"web": web}})
	for i := range 3 {
		s := probe(t, p, "web", fmt.Sprint(i), "exit", "0")
		s.Mounts = []runner.Mount{{Source: artifact.MountSource("k1", ""), Target: "/in", Files: &runner.Files{Dir: t.TempDir(), Key: "k1"}}}
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			_ = p.hosts["web"].client.Close()
			clear(web.files)
		}
	}
	if web.files["k1"] == 0 {
		t.Error("they were not sent again")
	}
}

// A host that could not be reached is tried again when it is asked for.
func TestPlaces_Retry(t *testing.T) {
	n := &network{machines: map[string]*machine{}}
	p, web := newPlaces(t, n), runner.Host{Name: "web", Address: "web"}
	if _, err := p.Welcome(t.Context(), web); err == nil || !p.Lost() {
		t.Fatalf("%v, lost: %v", err, p.Lost())
	}
	n.machines["web"] = newMachine("web")
	if _, err := p.Welcome(t.Context(), web); err == nil {
		t.Error("it is tried again unasked")
	}
	p.Retry()
	if _, err := p.Welcome(t.Context(), web); err != nil || p.Lost() {
		t.Errorf("%v, lost: %v", err, p.Lost())
	}
}

// A machine that was made anew meanwhile is taken for the host when that is asked for
// anew, and one that is still away does not keep that waiting.
func TestPlaces_RetryAnotherMachine(t *testing.T) {
	n := &network{machines: map[string]*machine{"web": newMachine("one")}}
	p, web := newPlaces(t, n), runner.Host{Name: "web", Address: "web"}
	p.o.Patience = 3 * time.Second
	if _, err := p.Welcome(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	_ = p.hosts["web"].client.Close()
	n.machines["web"] = newMachine("two")
	if _, err := p.Welcome(t.Context(), web); err == nil {
		t.Fatal("another machine is taken for it")
	}
	n.machines["web"] = nil
	p.Retry()
	before := n.dialled.Load()
	if _, err := p.Welcome(t.Context(), web); err == nil || n.dialled.Load() != before+1 {
		t.Errorf("%v after %d tries", err, n.dialled.Load()-before)
	}
	n.machines["web"] = newMachine("two")
	p.Retry()
	if w, err := p.Welcome(t.Context(), web); err != nil || w.Facts.Machine != "two" {
		t.Errorf("%v", err)
	}
	was := probe(t, p, "web", "id1", "exit", "0")
	was.Settings.Host.Machine = "one"
	if _, err := p.Run(t.Context(), was); err == nil {
		t.Error("what was planned on the machine before runs on another")
	}
}

// Who waits for an image that another one sends does not fail when that one's time is up.
func TestPlaces_SendForThemselves(t *testing.T) {
	h := &host{sent: map[string]*sending{}}
	short, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	go func() {
		_ = h.once(short, "image", func() error { // it is to end
			close(begun)
			<-short.Done()
			time.Sleep(50 * time.Millisecond) // the other one waits meanwhile
			return context.Cause(short)
		})
	}()
	<-begun
	cancel()
	sent := 0
	if err := h.once(t.Context(), "image", func() error { sent++; return nil }); err != nil || sent != 1 {
		t.Errorf("%v, sent %d times", err, sent)
	}
}

func TestPlaces_KnowAnotherMachine(t *testing.T) {
	n := &network{machines: map[string]*machine{"web": newMachine("one")}}
	p := newPlaces(t, n)
	host := runner.Host{Name: "web", Address: "web"}
	if _, err := p.Welcome(context.Background(), host); err != nil {
		t.Fatal(err)
	}
	n.machines["web"] = newMachine("two")
	n.local.Store(1)
	_, err := p.Run(context.Background(), probe(t, p, "web", "id1", "both"))
	var other *OtherMachineError
	if !errors.As(err, &other) {
		t.Errorf("got %v", err)
	}
}

// After a restart of the machine no trace proves nothing.
// What was recorded on a machine is neither run nor adopted on another that has its name.
func TestPlaces_RefuseAnotherMachineThanTheRecordedOne(t *testing.T) {
	n := &network{machines: map[string]*machine{"web": newMachine("two")}}
	p := newPlaces(t, n)
	for recorded, refused := range map[string]bool{"one": true, "two": false, "": false} {
		s := probe(t, p, "web", "")
		s.Settings.Host.Machine = recorded
		_, ran := p.Run(t.Context(), s)
		at := p.AdopterFor(s.Settings.Host)
		_, adopted := at.Adopt(t.Context(), "an-action", runner.Watch{})
		_, running := at.Running(t.Context(), "an-action")
		for what, err := range map[string]error{"run": ran, "adopt": adopted, "running": running, "discard": at.Discard(t.Context(), "an-action")} {
			var of *runner.HostError
			if errors.As(err, &of) != refused || refused && !strings.Contains(err.Error(), "it is the machine two now") {
				t.Errorf("recorded on %q: %s: %v", recorded, what, err)
			}
		}
	}
}

func TestPlaces_DoNotActAgainAfterARestart(t *testing.T) {
	web := newMachine("web")
	n := &network{machines: map[string]*machine{"web": web}}
	p := newPlaces(t, n)
	s := probe(t, p, "web", "id1", "tick")
	s.Stdout = writer(func() {
		n.there.Store(1) // the next word of the host breaks the connection
		web.mu.Lock()
		defer web.mu.Unlock()
		web.boot = "b2"
		delete(web.actions, "id1")
	})
	_, err := p.Run(context.Background(), s)
	var unknown *runner.UnknownError
	if !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if web.actions["id1"] != nil {
		t.Error("it was done again")
	}
}

type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

func TestPlaces_ReportAHostThatCannotBeReached(t *testing.T) {
	n := &network{}
	p := newPlaces(t, n)
	for range 2 {
		_, err := p.Run(context.Background(), probe(t, p, "web", "id1", "both"))
		var gone *runner.HostError
		if !errors.As(err, &gone) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v", err)
		}
	}
	if n.dialled.Load() != 1 {
		t.Errorf("it was tried %d times", n.dialled.Load())
	}
}

// A further host gets the place of one that is idle: of the one that was finished last, as
// far as that is known. What is in use stays, however many are.
func TestPlaces_LimitConnections(t *testing.T) {
	n, names := &network{machines: map[string]*machine{}}, []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		n.machines[name] = newMachine(name)
	}
	p := newPlaces(t, n)
	p.Most(3)
	run := func(name string) {
		t.Helper()
		if _, err := p.Run(t.Context(), probe(t, p, name, name, "exit", "0")); err != nil {
			t.Fatal(err)
		}
		if open, _ := p.open(); open > 3 {
			t.Errorf("%d connections after %s", open, name)
		}
	}
	for range 2 {
		for _, name := range names {
			run(name)
		}
	}
	run("g")
	run("f")
	if got := n.dialled.Load(); got != 16 {
		t.Errorf("%d connections were made, want 16: the latest three stay", got)
	}
	for name, ago := range map[string]time.Duration{"g": time.Hour, "f": time.Minute, "h": 0} {
		p.hosts[name].idle.Store(time.Now().Add(-ago).UnixNano())
	}
	if _, idler := p.open(); idler != p.hosts["f"] {
		t.Errorf("%s would be left, want f: g waits for its turn, and h may be in a pause", idler.Name)
	}
	used, err := p.hosts["a"].connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[1:] {
		run(name)
	}
	select {
	case <-used.Lost():
		t.Error("a connection was closed that is in use")
	default:
	}
	for _, name := range names { // all are in use
		if _, err := p.hosts[name].connect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if open, _ := p.open(); open != len(names) {
		t.Errorf("%d of %d are connected that are all in use", open, len(names))
	}
}

// So many hosts are reached at one time as the processors can greet.
func TestPlaces_LimitConcurrentDials(t *testing.T) {
	most := int64(dialsEach * runtime.NumCPU())
	var now atomic.Int64
	release := make(chan struct{})
	p := New(Options{Dial: func(context.Context, runner.Host) (*remote.Client, error) {
		now.Add(1)
		<-release
		return nil, errors.New("no route")
	}})
	var all sync.WaitGroup
	for i := range 3 * most {
		all.Go(func() { _, _ = p.Welcome(t.Context(), runner.Host{Name: fmt.Sprint(i)}) }) // it is not there
	}
	for end := time.Now().Add(time.Minute); now.Load() < most && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // more would come
	if got := now.Load(); got != most {
		t.Errorf("%d concurrently, want %d", got, most)
	}
	close(release)
	all.Wait()
}
