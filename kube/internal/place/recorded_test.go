package place

import (
	"errors"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/fence"
)

// A client is killed at each of its requests after the end of its action is recorded. The next command of the state removes the
// Pod once that has ended, however little of the Lease the first one has written; without the state's word it stays.
func TestClose_RemovesWhatTheStateHasRecorded(t *testing.T) {
	t.Parallel()
	left, through := 0, false
	for at := int64(1); at <= 60 && !through; at++ {
		for _, after := range []bool{false, true} {
			c, m := newCluster(t), &made{}
			c.fake.Add(maker, m.program)
			s := action(t, c, "one")
			image, err := c.fake.Resolve(t.Context(), maker)
			if err != nil {
				t.Fatal(err)
			}
			s.Digest, s.Args = image.Digest, nil
			k := &killed{at: at, after: after}
			recorded := runOnce(t, c.doomed(t, acts(1), k), s)
			through = k.count.Load() < at
			k.kill()
			if !recorded || len(c.Pods()) == 0 {
				c.Close()
				continue
			}
			left++
			c.Find(c.Pods()[0].Name).Kill("") // its agent ends
			for _, known := range []bool{false, true} {
				h := acts(2)
				h.Run = "later"
				if known {
					h.Run, h.Epoch, h.Open = "last", 3, &[]string{"another"}
				}
				p, next := c.entered(t, h)
				if _, err := next.Welcome(t.Context(), next.host); err != nil {
					t.Fatal(err)
				}
				open := p.fence.Opened() // what the killed client has sent may have arrived just before
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				if n := len(c.Pods()); known && n != 0 || !known && len(open) > 0 && n != 1 {
					t.Errorf("killed at request %d (after it: %t): %d Pods, %q open, known to the state: %t", at, after, n, open, known)
				}
			}
			if open := c.openIn(t); len(open) != 0 {
				t.Errorf("killed at request %d: the Lease names %q", at, open)
			}
			c.Close()
		}
	}
	if left < 2 {
		t.Errorf("%d kills have left a Pod", left)
	}
}

// openIn returns the Pods that the Lease of the state names.
func (c *cluster) openIn(t *testing.T) []string {
	t.Helper()
	client, err := api.New(c.Config(), fakeapi.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	open, err := fence.OpenIn(t.Context(), client, leaseOf(hash("lineage")))
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// What the state does not know the end of stays, and so does what this run has begun before it connects again.
func TestEnter_LeavesOpenWhatTheStateDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		run  string
		open []string
	}{
		"an open action of an earlier run": {"later", []string{"other", "one"}},
		"an action of the same run":        {"run", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			p, first := c.entered(t, acts(1))
			s := action(t, c, "one", "exit", "3")
			s.Ended = func(runner.Result, error) error { return errors.New("the store cannot be reached") }
			_, _ = first.Run(t.Context(), s) // its end is not recorded
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			c.Find(c.Pods()[0].Name).Kill("")
			h := acts(1)
			if h.Run = k.run; k.run != "run" {
				h.Epoch = 2
			}
			h.Open = &k.open
			p, next := c.entered(t, h)
			if _, err := next.Welcome(t.Context(), next.host); err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if open := c.openIn(t); len(open) != 1 || len(c.Pods()) != 1 {
				t.Errorf("the Lease names %q, and there are %d Pods", open, len(c.Pods()))
			}
			h.Run, h.Epoch = "last", 3
			h.Open = &[]string{"one"}
			_, last := c.entered(t, h)
			out, err := last.AdopterFor(&last.host).Adopt(t.Context(), "one", runner.Watch{})
			if err != nil || out.Fate != runner.Exited || out.ExitCode != 3 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
