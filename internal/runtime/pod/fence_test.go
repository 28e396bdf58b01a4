package pod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// A newer client of the state ends the connections of older ones that may act, and an older one is
// refused. What the older one has begun continues, and the newer one adopts it.
func TestAgent_LetsTheLatestAct(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	looks, older := p.client(remote.Hello{Build: remote.AgentVersion}), p.client(hello(5, "one"))
	began := make(chan struct{})
	s := shell(runner.Action, "a1", "echo ready; while [ ! -e /.deployster-run/go ]; do sleep 0.01; done; exit 2")
	s.Stdout = writerFunc(func([]byte) { close(began) })
	go func() { _, _ = older.Run(t.Context(), s) }() // it is lost
	<-began
	newer := p.client(hello(6, "two"))
	select {
	case <-older.Lost():
	case <-time.After(time.Minute):
		t.Fatal("the older one is still connected")
	}
	select {
	case <-looks.Lost():
		t.Error("a client that only looks was dropped")
	default:
	}
	for name, h := range map[string]remote.Hello{"an older one": hello(5, "one"), "another lineage": {Build: remote.AgentVersion, Lineage: "x", Epoch: 9},
		"no lineage": {Build: remote.AgentVersion, Epoch: 9}} {
		_, err := p.connect(h, p.dial())
		var refused *remote.RefusedError
		if !errors.As(err, &refused) || name == "an older one" && !strings.Contains(err.Error(), "deployster apply two has taken over here") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := looks.Run(t.Context(), shell(runner.Action, "a2", "echo >>/.deployster-run/a2")); err == nil || p.count("a2") != 0 {
		t.Errorf("a client that only looks acts: %v", err)
	}
	if err := os.WriteFile(p.dir+"/run/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := newer.Adopt(t.Context(), "a1", runner.Watch{}); err != nil || got.ExitCode != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A client that was admitted before a newer one begins nothing, whatever it has sent before it is dropped.
func TestClient_BeginsNothingAfterANewerOne(t *testing.T) {
	t.Parallel()
	a := &agent{clients: map[*client]bool{}, actions: &actions{slots: make(chan struct{}, 2), open: map[string]*action{}}}
	dropped := errors.New("not dropped")
	older := a.connect(func(why error) { dropped = why })
	if older.acts() == nil {
		t.Error("a client that only looks acts")
	}
	newer := a.connect(func(error) { t.Error("the newer one is dropped") })
	for c, h := range map[*client]remote.Hello{older: hello(5, "one")} {
		if _, err := c.Enter(t.Context(), h); err != nil || c.acts() != nil || !a.fence.Acted {
			t.Fatal(err)
		}
	}
	if _, err := newer.Enter(t.Context(), hello(6, "two")); err != nil || newer.acts() != nil {
		t.Fatal(err)
	}
	_, begun := a.actions.begin(t.Context(), runner.Spec{ID: "a1"}, nil, older.acts)
	for _, err := range []error{begun, older.acts(), older.Acts(t.Context(), hello(5, "one")), dropped} {
		if err == nil || !strings.Contains(err.Error(), "two has taken over here") {
			t.Errorf("the older one: %v", err)
		}
	}
}

// What is still on its way over a lost connection begins nothing after its client has connected again: the
// client may have sent it again.
func TestClient_BeginsNothingOverALostConnection(t *testing.T) {
	t.Parallel()
	a := &agent{clients: map[*client]bool{}, actions: &actions{slots: make(chan struct{}, 2), open: map[string]*action{}}}
	lost, again := a.connect(func(error) {}), a.connect(func(error) {})
	for _, c := range []*client{lost, again} {
		if _, err := c.Enter(t.Context(), hello(5, "one")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.actions.begin(t.Context(), runner.Spec{ID: "a1"}, nil, lost.acts); err == nil {
		t.Error("it was begun")
	}
	if _, err := a.actions.begin(t.Context(), runner.Spec{ID: "a1"}, nil, again.acts); err != nil {
		t.Error(err)
	}
}

// Who is not of the agent's user, or is a program in the container, gets nothing from the agent. exec
// starts its programs from outside.
func TestAgent_RefusesProgramsOfItsContainer(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	c := p.client(remote.Hello{Build: remote.AgentVersion})
	for _, script := range []string{"exec /deployster-pod talk </dev/null", "setsid /deployster-pod talk </dev/null & wait"} {
		if _, err := c.Run(t.Context(), shell(runner.Query, "", script)); err != nil {
			t.Fatal(err)
		}
	}
	p.until("both are refused", func() bool {
		return strings.Count(p.log.String(), "a connection was refused: it is of a program in this container") == 2
	})
	outside, ended := p.talk(hello(1, "one"))
	if res, err := outside.Run(t.Context(), shell(runner.Action, "a1", "exit 8")); err != nil || res.ExitCode != 8 {
		t.Errorf("%+v, %v", res, err)
	}
	_ = outside.Close()
	if err := ended(); err != nil {
		t.Errorf("talk: %v", err)
	}
}

// talk connects to the agent as the kubelet does, with its user, and returns what waits for the end of that.
func (p *podFile) talk(h remote.Hello, as ...string) (*remote.Client, func() error) {
	p.t.Helper()
	talk := exec.Command("nsenter", append(append([]string{"-t", fmt.Sprint(p.pid()), "-m", "-p", "-r"}, as...), "/deployster-pod", "talk")...)
	in, err := talk.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := talk.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := talk.Start(); err != nil {
		p.t.Fatal(err)
	}
	c, err := p.connect(h, stream{out, in})
	if err != nil {
		p.t.Fatal(err)
	}
	return c, talk.Wait
}

type stream struct {
	io.Reader
	io.WriteCloser
}

// A program may put a socket in place of the agent's, to read what the client sends: it is no agent.
func TestTalk_RefusesAnotherAgent(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/s"
	l, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	if err := Talk(path, 1, 0, strings.NewReader("secret"), io.Discard); err == nil || !strings.Contains(err.Error(), "the agent is 1") {
		t.Errorf("got %v", err)
	}
	begun := time.Now()
	if err := Talk(path+"2", 1, 50*time.Millisecond, nil, nil); err == nil || time.Since(begun) < 50*time.Millisecond {
		t.Errorf("where nobody listens: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// No program of the agent's user reads its memory, where secrets of requests are.
func TestAgent_KeepsItsMemoryToItself(t *testing.T) {
	t.Setenv("POD_USER", "65534:65534")
	p := newPod(t)
	c, _ := p.talk(remote.Hello{Build: remote.AgentVersion}, "-S", "65534", "-G", "65534")
	res, err := c.Run(t.Context(), shell(runner.Query, "", "id -u; ulimit -c; ulimit -n; for f in maps environ mem; do cat /proc/1/$f && echo read; done"))
	_, _ = p.connect(remote.Hello{}, p.dial()) // it is refused
	p.until("another user is refused", func() bool { return strings.Contains(p.log.String(), "a connection was refused: it is of the user 0") })
	if err != nil || string(res.Stdout) != "65534\n0\n1024\n" || strings.Count(string(res.Stderr), "Permission denied") != 3 {
		t.Errorf("%q, %q, %v", res.Stdout, res.Stderr, err)
	}
}
