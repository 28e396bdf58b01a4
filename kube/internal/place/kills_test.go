package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/memagent"
)

// maker is an image that makes one thing, and notices when it is made twice.
const maker = "registry.example/maker:1"

// killed is a deployster-kube that is killed at one of its requests: before the server carries it out, or after.
type killed struct {
	at    int64
	after bool

	count atomic.Int64
	once  sync.Once
	dead  chan struct{}
	end   func()
}

var errKilled = errors.New("the process was killed")

func (k *killed) kill() {
	k.once.Do(func() {
		close(k.dead)
		k.end()
	})
}

// wrap returns the connection of the process.
func (k *killed) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		select {
		case <-k.dead:
			return nil, errKilled
		default:
		}
		number := k.count.Add(1)
		if number == k.at && !k.after {
			k.kill()
			return nil, errKilled
		}
		answer, err := next.RoundTrip(r)
		if number == k.at {
			k.kill()
			return nil, errKilled
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return r(q) }

// doomed returns a client whose deployster-kube is killed.
func (c *cluster) doomed(t *testing.T, h remote.Hello, k *killed) *client {
	t.Helper()
	cl := c.client(t, h)
	config := c.Config()
	config.WrapTransport = k.wrap
	client, err := api.New(config, fakeapi.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	client.Patience = 100 * time.Millisecond
	p := New(Options{Cluster: c.block, API: client, Build: "test", Timing: timing()})
	ctx, end := context.WithCancel(context.Background())
	k.dead = make(chan struct{})
	k.end = func() { // as the kernel does: all connections break, and nothing is sent over them any more
		c.CutExec()
		end()
		p.stop()
	}
	t.Cleanup(k.kill)
	dialled := false
	cl.Places = routerTo(t, c, func() (*remote.Client, error) {
		if dialled {
			return nil, &remote.RefusedError{Reason: "its client is killed, too"}
		}
		dialled = true
		return serveUntil(ctx, t, p, h)
	})
	return cl
}

// made counts what the image has made.
type made struct {
	begun, ended atomic.Int64
}

func (m *made) program(ctx context.Context, _ runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
	m.begun.Add(1)
	_, _ = io.WriteString(stdout, "making\n")
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
		return 143
	}
	m.ended.Add(1)
	return 0
}

// finish does what the next command does: it adopts the action, and lets the image be asked where its end is unknown.
func finish(t *testing.T, c *cluster, m *made, s runner.Spec, recorded bool) (how string) {
	t.Helper()
	return finishAs(t, c, m, s, recorded, 2)
}

// finishAs is finish for a command with an epoch.
func finishAs(t *testing.T, c *cluster, m *made, s runner.Spec, recorded bool, epoch int64) (how string) {
	t.Helper()
	h := acts(epoch)
	h.Run = "later"
	next := c.client(t, h)
	at := next.AdopterFor(&next.host)
	if recorded {
		how = "recorded"
	} else {
		out, err := at.Adopt(t.Context(), s.ID, runner.Watch{})
		begun := m.begun.Load()
		switch {
		case err != nil && strings.Contains(err.Error(), "may still run"):
			t.Log(err)
			return "may still run"
		case err != nil:
			t.Fatalf("adopted: %v", err)
		case out.Fate == runner.Exited && begun != 1 && !out.OOM, out.Fate == runner.NotBegun && begun != 0, out.NoTrace && begun != 0:
			t.Fatalf("it was begun %d times: %+v", begun, out)
		}
		how = string(out.Fate)
	}
	if err := at.Discard(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if m.begun.Load() == 0 { // the image reports that it is missing
		_, err := next.Run(t.Context(), s)
		if _, unknown := errors.AsType[*runner.UnknownError](err); unknown { // the kill has cut this connection too: it was sent twice
			var out runner.Outcome
			if out, err = at.Adopt(t.Context(), s.ID, runner.Watch{}); err == nil && out.Fate != runner.Exited {
				t.Fatalf("it was begun %d times, and adopted so: %+v", m.begun.Load(), out)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Millisecond) // what an earlier process has sent would arrive
	if n := m.begun.Load(); n != 1 {
		t.Errorf("it was begun %d times", n)
	}
	return how
}

// runOnce runs the action until its client is killed or it has ended, and reports whether its end is recorded.
func runOnce(t *testing.T, cl *client, s runner.Spec) (recorded bool) {
	t.Helper()
	s.Ended = func(runner.Result, error) error { recorded = true; return nil }
	_, _ = cl.Run(t.Context(), s) // it may be killed
	return recorded
}

// The process is killed at each of its requests. No action is begun twice, and none is lost.
func TestKilled_AtEachRequest(t *testing.T) {
	t.Parallel()
	ways := map[string]int{}
	for at := int64(1); ; at++ {
		through := false
		for way := range 3 {
			after, shares := way == 1 || way == 2 && at%4 == 1, way == 2
			if shares && at%2 == 0 { // each takes seconds
				continue
			}
			c, m := newCluster(t), &made{}
			c.fake.Add(maker, m.program)
			s := action(t, c, "one")
			image, err := c.fake.Resolve(t.Context(), maker)
			if err != nil {
				t.Fatal(err)
			}
			s.Digest, s.Args, s.Reuse, s.ReuseActions = image.Digest, nil, shares, shares
			k := &killed{at: at, after: after}
			recorded := runOnce(t, c.doomed(t, acts(1), k), s)
			through = k.count.Load() < at
			k.kill()
			how := finish(t, c, m, s, recorded)
			ways[how]++
			if t.Failed() {
				t.Fatalf("killed at request %d (after it: %t, in a Pod for several: %t)", at, after, shares)
			}
			c.Close()
		}
		if through || at == 60 {
			break
		}
	}
	t.Logf("how it ended: %v", ways)
	if len(ways) < 3 || 2*ways["may still run"] > ways["unknown"]+ways["not begun"] {
		t.Errorf("the kills do not reach everything: %v", ways)
	}
}

// The agent is killed at each step of an action, or the connection breaks there.
func TestKilled_AtEachStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"before begin", "begun", "exited", "recorded"} {
		for n, what := range []string{"agent", "stream", "out of memory", "process", "agent", "stream", "out of memory", "process"} {
			shares := n >= 4
			t.Run(fmt.Sprintf("%s %s, shares %t", what, step, shares), func(t *testing.T) {
				t.Parallel()
				c, m := newCluster(t), &made{}
				c.fake.Add(maker, m.program)
				s := action(t, c, "one")
				image, err := c.fake.Resolve(t.Context(), maker)
				if err != nil {
					t.Fatal(err)
				}
				s.Digest, s.Args, s.Reuse, s.ReuseActions = image.Digest, nil, shares, shares
				k := &killed{at: -1}
				c.agent = func(a *memagent.Agent) {
					once := sync.Once{}
					a.Step = func(name string) {
						if name != step {
							return
						}
						once.Do(func() {
							r := c.Find(c.Pods()[0].Name)
							switch what {
							case "agent":
								a.Kill()
							case "out of memory":
								go r.Kill("OOMKilled")
								<-a.Ended()
							case "stream":
								c.CutExec()
							case "process":
								k.kill()
							}
						})
					}
				}
				var recorded bool
				if what == "process" {
					recorded = runOnce(t, c.doomed(t, acts(1), k), s)
				} else {
					recorded = runOnce(t, c.client(t, acts(1)), s)
				}
				c.agent = nil
				if how := finish(t, c, m, s, recorded); how == "may still run" {
					t.Error("its end cannot be found out")
				}
			})
		}
	}
}
