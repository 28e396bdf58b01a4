package place

import (
	"errors"
	"strings"
	"testing"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fakeapi"
)

// entered returns a Place that a client has entered, and a client of it.
func (c *cluster) entered(t *testing.T, h remote.Hello) (*Place, *client) {
	t.Helper()
	p := c.place(t)
	cl := c.client(t, h)
	cl.Places = routerTo(t, c, func() (*remote.Client, error) { return serve(t, p, h) })
	return p, cl
}

// The Pod of an evicted action stays until the next command has reported why it ended. The record names it no longer.
func TestClose_RemovesEvictedPods(t *testing.T) {
	t.Parallel()
	for _, reports := range []bool{true, false} {
		c := newCluster(t)
		p, first := c.entered(t, acts(1))
		s := action(t, c, "one", "obey")
		s.Stdout = onFirst(func() { go c.Find(c.Pods()[0].Name).Evict("The node was low on resource: ephemeral-storage. ") })
		var unknown *runner.UnknownError
		if _, err := first.Run(t.Context(), s); !errors.As(err, &unknown) || !unknown.Over {
			t.Fatalf("got %v", err)
		}
		if err := p.Close(); err != nil || len(c.Pods()) != 1 {
			t.Errorf("%v: people find %d Pods", err, len(c.Pods()))
		}
		h := acts(2)
		h.Run = "later"
		p, next := c.entered(t, h)
		if _, err := next.Welcome(t.Context(), next.host); err != nil {
			t.Fatal(err)
		}
		if reports {
			out, err := next.AdopterFor(&next.host).Adopt(t.Context(), "one", runner.Watch{})
			if err != nil || out.Fate != runner.Unknown || out.NoTrace || !strings.Contains(out.Why, "was evicted") {
				t.Errorf("%+v, %v", out, err)
			}
		}
		if err := p.Close(); err != nil || len(c.Pods()) != 0 {
			t.Errorf("%v: %d Pods are left", err, len(c.Pods()))
		}
		h.Epoch = 3
		_, last := c.entered(t, h)
		out, err := last.AdopterFor(&last.host).Adopt(t.Context(), "one", runner.Watch{})
		if err != nil || out.Fate != runner.Unknown || !out.NoTrace {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

// What proves an outcome that nobody has recorded stays until somebody has: an exit code, memory that ran out, a running agent.
func TestClose_KeepsOutcomes(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		args []string
		do   func(*fakeapi.Running)
		want runner.Outcome
	}{
		"exit code": {[]string{"exit", "3"}, func(r *fakeapi.Running) { r.Kill("") },
			runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 3}}},
		"no memory": {[]string{"obey"}, func(r *fakeapi.Running) { r.Kill("OOMKilled") },
			runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 137, OOM: true}}},
		"running": {[]string{"exit", "3"}, func(*fakeapi.Running) {},
			runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			p, first := c.entered(t, acts(1))
			s := action(t, c, "one", k.args...)
			s.Stdout = onFirst(func() { go k.do(c.Find(c.Pods()[0].Name)) })
			s.Ended = func(runner.Result, error) error { return errors.New("the store cannot be reached") }
			_, _ = first.Run(t.Context(), s) // its end is not recorded
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			k.do(c.Find(c.Pods()[0].Name))
			h := acts(2)
			h.Run = "later"
			p, next := c.entered(t, h)
			if _, err := next.Welcome(t.Context(), next.host); err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			h.Epoch = 3
			_, last := c.entered(t, h)
			out, err := last.AdopterFor(&last.host).Adopt(t.Context(), "one", runner.Watch{})
			if err != nil || out.Fate != k.want.Fate || out.ExitCode != k.want.ExitCode || out.OOM != k.want.OOM {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
