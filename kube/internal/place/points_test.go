package place

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/memagent"
)

// The places where something is killed: at requests to the API server, and at what is written to and by deployster-kube and
// to and by the agent of a Pod. Each message is written in two parts.
const (
	atRequest   = "request"
	toProgram   = "written to deployster-kube"
	byProgram   = "written by deployster-kube"
	readByAgent = "read by the agent"
	byAgent     = "written by the agent"
)

// Who is killed there.
const (
	theProgram    = "deployster-kube"
	theClient     = "deployster"
	theAgent      = "the agent"
	theConnection = "the connection"
)

// point is where something is killed.
type point struct {
	where string
	at    int  // the number of the request, or of the write
	after bool // it was carried out before
	who   string
}

func (p point) String() string {
	return fmt.Sprintf("%s at %s %d, after it: %t", p.who, p.where, p.at, p.after)
}

// command is a command that is killed at a point.
type command struct {
	c     *cluster
	point point

	mu      sync.Mutex
	count   map[string]int
	dead    bool
	reached bool
	agents  []*memagent.Agent
	end     func() // of the processes that are killed
	leave   func() // of deployster alone: deployster-kube sees its end
}

// step counts what is done somewhere, and kills there.
func (k *command) step(where string, do func() error) error {
	k.mu.Lock()
	k.count[where]++
	now := k.point.where == where && k.count[where] == k.point.at && !k.reached
	k.reached = k.reached || now
	k.mu.Unlock()
	if !now {
		return do()
	}
	if k.point.after {
		if err := do(); err != nil {
			return err
		}
	}
	k.kill()
	if k.point.after && k.point.who != theProgram {
		return nil
	}
	return errKilled
}

// kill kills.
func (k *command) kill() {
	k.mu.Lock()
	agents := slices.Clone(k.agents)
	k.dead = k.dead || k.point.who == theProgram || k.point.who == theClient
	k.mu.Unlock()
	switch k.point.who {
	case theProgram:
		k.end()
	case theClient:
		k.leave()
	case theAgent:
		for _, a := range agents {
			a.Kill()
		}
	default:
		k.c.CutExec()
	}
}

// gone reports whether the command was killed.
func (k *command) gone() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dead
}

// counted is a stream whose reads and writes are steps.
type counted struct {
	io.ReadWriteCloser
	k             *command
	reads, writes string
}

func (s counted) Write(p []byte) (n int, err error) {
	err = s.k.step(s.writes, func() error { n, err = s.ReadWriteCloser.Write(p); return err })
	return n, err
}

func (s counted) Read(p []byte) (n int, err error) {
	if s.reads == "" {
		return s.ReadWriteCloser.Read(p)
	}
	n, err = s.ReadWriteCloser.Read(p)
	if err != nil {
		return n, err
	}
	return n, s.k.step(s.reads, func() error { return nil })
}

// talked is an agent whose connections are steps of a command.
type talked struct {
	*memagent.Agent
	k *command
}

// Talk implements fakeapi.Agent.
func (a talked) Talk(stream io.ReadWriteCloser) error {
	return a.Agent.Talk(counted{stream, a.k, readByAgent, byAgent})
}

// doomedAt returns a client that is killed at a point.
func (c *cluster) doomedAt(t *testing.T, h remote.Hello, at point) (*client, *command) {
	t.Helper()
	k := &command{c: c, point: at, count: map[string]int{}}
	cl := c.client(t, h)
	config := c.Config()
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (answer *http.Response, err error) {
			if k.gone() && k.point.who == theProgram {
				return nil, errKilled
			}
			if strings.Contains(r.URL.Path, "selfsubject") { // it changes nothing, and is sent beside others
				return next.RoundTrip(r)
			}
			err = k.step(atRequest, func() error { answer, err = next.RoundTrip(r); return err })
			return answer, err
		})
	}
	client, err := api.New(config, fakeapi.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	client.Patience = 100 * time.Millisecond
	p := New(Options{Cluster: c.block, API: client, Build: "test", Timing: timing()})
	ctx, end := context.WithCancel(context.Background())
	here, there := net.Pipe()
	k.leave = func() { _ = here.Close() }
	k.end = func() {
		c.CutExec()
		end()
		p.stop()
		_ = there.Close()
	}
	served := make(chan struct{})
	t.Cleanup(func() {
		k.leave()
		<-served
		k.end()
	})
	go func() {
		defer close(served)
		if remote.Serve(ctx, counted{there, k, "", byProgram}, p, memagent.Timing) == nil {
			_ = p.Close() // as the program does
		}
	}()
	c.Set(func(b *fakeapi.Behaviour) {
		b.Kubelet = func(r *fakeapi.Running) {
			a := c.newAgent()
			k.mu.Lock()
			k.agents = append(k.agents, a)
			k.mu.Unlock()
			r.Start(talked{a, k})
		}
	})
	dialled := false
	h.Build = "test"
	cl.Places = routerTo(t, c, func() (*remote.Client, error) {
		if dialled {
			return nil, &remote.RefusedError{Reason: "its client is killed, too"}
		}
		dialled = true
		return remote.NewClient(t.Context(), counted{here, k, "", toProgram}, h, memagent.Timing)
	})
	return cl, k
}

// try runs commands that are killed at points, each the next one of the last, until one that is not. It returns how the
// outcome of the action was found, and whether the first point was reached. shares: the Pod of the action is one for several.
func try(t *testing.T, shares bool, points ...point) (how string, reached bool) {
	t.Helper()
	c, m := newCluster(t), &made{}
	c.fake.Add(maker, m.program)
	s := action(t, c, "one")
	image, err := c.fake.Resolve(t.Context(), maker)
	if err != nil {
		t.Fatal(err)
	}
	s.Digest, s.Args, s.Reuse, s.ReuseActions = image.Digest, nil, shares, shares
	recorded := false
	for n, at := range points {
		h := acts(int64(n + 1))
		h.Run = fmt.Sprint("run ", n)
		cl, k := c.doomedAt(t, h, at)
		if n == 0 {
			recorded = runOnce(t, cl, s)
		} else if !recorded {
			out, err := cl.AdopterFor(&cl.host).Adopt(t.Context(), s.ID, runner.Watch{})
			recorded = err == nil && out.Fate == runner.Exited
		}
		k.mu.Lock()
		reached = reached || k.reached
		k.mu.Unlock()
		k.leave()
	}
	c.Set(func(b *fakeapi.Behaviour) { b.Kubelet = func(r *fakeapi.Running) { r.Start(c.newAgent()) } })
	how = finishAs(t, c, m, s, recorded, int64(len(points)+1))
	if n := m.begun.Load(); n > 1 {
		t.Errorf("it was begun %d times", n)
	}
	if t.Failed() {
		t.Fatalf("killed: %v; it ended so: %s", points, how)
	}
	return how, reached
}

// Each process, and the connections between them, are killed at each message of an action. No action is begun twice, and none
// is lost.
func TestKilled_AtEachMessage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	ways, count := map[string]int{}, 0
	t.Run("points", func(t *testing.T) {
		for _, where := range []string{toProgram, byProgram, readByAgent, byAgent} {
			for _, who := range []string{theProgram, theClient, theAgent, theConnection} {
				t.Run(strings.ReplaceAll(who+" "+where, " ", "-"), func(t *testing.T) {
					t.Parallel()
					for at, through := 1, false; !through && at <= 60; at++ {
						for _, after := range []bool{false, true} {
							how, reached := try(t, false, point{where, at, after, who})
							if through = !reached; through {
								break
							}
							mu.Lock()
							ways[how]++
							count++
							mu.Unlock()
						}
					}
				})
			}
		}
	})
	t.Logf("%d points, and how it ended: %v", count, ways)
	if count < 42 || len(ways) < 3 || 2*ways["may still run"] > count {
		t.Errorf("%d kills do not reach everything: %v", count, ways)
	}
}

// COUNT times a command, and mostly the next one too, is killed at a random point.
func TestKilled_Anywhere(t *testing.T) {
	t.Parallel()
	kills, _ := strconv.Atoi(os.Getenv("DEPLOYSTER_KUBE_KILLS"))
	if kills == 0 {
		t.Skip("make kills-kube runs it")
	}
	seed, _ := strconv.ParseUint(os.Getenv("DEPLOYSTER_KUBE_SEED"), 10, 64)
	ways := map[string]int{}
	for n := range kills {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		one := func() point {
			where := []string{atRequest, toProgram, byProgram, readByAgent, byAgent}[random.IntN(5)]
			who := []string{theProgram, theClient, theAgent, theConnection}[random.IntN(4)]
			most := 8
			if where == atRequest {
				most = 20
			}
			return point{where, 1 + random.IntN(most), random.IntN(2) == 0, who}
		}
		points := []point{one()}
		for random.IntN(3) > 0 && len(points) < 4 {
			points = append(points, one())
		}
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			how, _ := try(t, random.IntN(2) == 0, points...)
			ways[how]++
		})
	}
	t.Logf("seed %d, how they ended: %v", seed, ways)
}
