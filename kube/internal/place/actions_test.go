package place

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/memagent"
)

// action returns an action of the probe.
func action(t *testing.T, c *cluster, id string, args ...string) runner.Spec {
	t.Helper()
	i, err := c.fake.Resolve(context.Background(), runnertest.ProbeReference)
	if err != nil {
		t.Fatal(err)
	}
	return runner.Spec{Name: "main/create", Kind: runner.Action, Digest: i.Digest, Args: args, ID: id, Timeout: time.Minute,
		Grace: time.Second}
}

// eventually waits until a fact holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s: it does not happen", what)
		}
	}
}

func TestRun_RecordsTheEndBeforeItsPodIsDeleted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cl := c.client(t, acts(1))
	s := action(t, c, "one", "exit", "3")
	recorded := 0
	s.Ended = func(r runner.Result, err error) error {
		recorded++
		if len(c.Pods()) != 1 || r.ExitCode != 3 || err != nil {
			t.Errorf("%d Pods, %+v, %v", len(c.Pods()), r, err)
		}
		return nil
	}
	if res, err := cl.Run(t.Context(), s); res.ExitCode != 3 || err != nil || recorded != 1 {
		t.Errorf("%+v, %v, recorded %d times", res, err, recorded)
	}
	eventually(t, "its Pod is deleted", func() bool { return len(c.Pods()) == 0 })
}

// A client that only reads acts nowhere.
func TestRun_RefusesActionsOfReaders(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cl := c.client(t, acts(0))
	if _, err := cl.Run(t.Context(), action(t, c, "one", "exit", "0")); err == nil || !strings.Contains(err.Error(), "may only read") {
		t.Errorf("got %v", err)
	}
	if len(c.Leases()) != 0 {
		t.Errorf("it made %q", c.Leases())
	}
}

// An action whose client is killed continues, and the next client gets all of its output and its end.
func TestAdopt_ContinuesAnAction(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	begun, found := make(chan struct{}), make(chan struct{})
	c.agent = func(a *memagent.Agent) {
		a.Step = func(name string) {
			if name == "exited" {
				<-found // it is not over before it is adopted
			}
		}
	}
	first := c.client(t, acts(1))
	s := action(t, c, "one", "tick")
	s.Stdout = onFirst(func() { close(begun) })
	ctx, lose := context.WithCancel(t.Context())
	defer lose()
	go func() { _, _ = first.Run(ctx, s) }() // its client is killed
	<-begun
	h := acts(2)
	h.Run = "later"
	next := c.client(t, h)
	var out strings.Builder
	running := 0
	got, err := next.AdopterFor(&next.host).Adopt(t.Context(), "one", runner.Watch{Stdout: &out, Running: func() {
		if running++; running == 1 {
			close(found)
		}
	}})
	if err != nil || got.Fate != runner.Exited || got.ExitCode != 0 || out.String() != "one\ntwo\n" || running != 1 {
		t.Errorf("%+v, %v, %q, %d", got, err, out.String(), running)
	}
	if err := next.AdopterFor(&next.host).Discard(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if n := len(c.Pods()); n != 0 {
		t.Errorf("%d Pods are left", n)
	}
	if again, err := next.AdopterFor(&next.host).Adopt(t.Context(), "one", runner.Watch{}); err != nil || !again.NoTrace {
		t.Errorf("%+v, %v", again, err)
	}
	s.Args = []string{"exit", "0"}
	if res, err := next.Run(t.Context(), s); err != nil || res.ExitCode != 0 {
		t.Errorf("a second try: %+v, %v", res, err)
	}
}

// Who reads how an action goes, and acts on nothing, finds it by the state that it greets with: while it runs, and its end.
func TestRunning_IsFoundByWhoReads(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first := c.client(t, acts(1))
	s := action(t, c, "one", "obey")
	begun := make(chan struct{})
	s.Stdout = onFirst(func() { close(begun) })
	ctx, lose := context.WithCancel(t.Context())
	defer lose()
	go func() { _, _ = first.Run(ctx, s) }() // its client is killed
	<-begun
	reader := c.client(t, remote.Hello{Lineage: "lineage"})
	if runs, err := reader.AdopterFor(&reader.host).Running(t.Context(), "one"); err != nil || !runs {
		t.Errorf("%t, %v", runs, err)
	}
	if n := len(c.Pods()); n != 1 {
		t.Errorf("%d Pods", n)
	}
}

// onFirst calls a function at the first output.
func onFirst(do func()) writer {
	once := sync.OnceFunc(do)
	return func(p []byte) (int, error) { once(); return len(p), nil }
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// How an action ends whose Pod is lost while it runs.
func TestRun_ReportsWhatIsCertain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do      func(*cluster, *fakeapi.Running)
		over    bool
		want    string
		oom     bool
		adopted runner.Fate // by the next client; "" = it may still run
	}{
		"evicted": {do: func(_ *cluster, r *fakeapi.Running) { r.Evict("The node was low on resource: ephemeral-storage. ") }, over: true,
			want: "was evicted: The node was low on resource: ephemeral-storage while main/create ran", adopted: runner.Unknown},
		"rejected": {do: func(_ *cluster, r *fakeapi.Running) {
			r.Reject("The node had condition: [DiskPressure]. ", 30*time.Millisecond)
		},
			over: true, want: "was evicted: The node had condition: [DiskPressure] while main/create ran", adopted: runner.Unknown},
		"killed": {do: func(_ *cluster, r *fakeapi.Running) { r.Kill("") }, over: true, want: "ended with exit code 137 (Error)",
			adopted: runner.Unknown},
		"no memory": {do: func(_ *cluster, r *fakeapi.Running) { r.Kill("OOMKilled") }, oom: true},
		"vanished":  {do: func(c *cluster, r *fakeapi.Running) { c.Vanish(r.Pod.Name); r.Kill("") }, want: "so main/create may still run"},
	} {
		each := func(t *testing.T, shares bool) {
			t.Parallel()
			k := newCluster(t)
			s := action(t, k, "one", "obey")
			s.Reuse, s.ReuseActions, s.Timeout = shares, shares, 10*time.Second
			s.Stdout = onFirst(func() { go c.do(k, k.Find(k.Pods()[0].Name)) })
			res, err := k.client(t, acts(1)).Run(t.Context(), s)
			if n := k.Requests()["create pods"]; n != 1 {
				t.Errorf("it was tried in %d Pods", n)
			}
			var unknown *runner.UnknownError
			switch {
			case c.oom:
				if err != nil || !res.OOM || res.ExitCode != 137 {
					t.Errorf("%+v, %v", res, err)
				}
				return // its end was recorded
			case !errors.As(err, &unknown) || unknown.Over != c.over || !strings.Contains(err.Error(), c.want):
				t.Errorf("%+v, %v", res, err)
			}
			h := acts(2)
			h.Run = "later"
			next := k.client(t, h)
			out, err := next.AdopterFor(&next.host).Adopt(t.Context(), "one", runner.Watch{})
			if c.adopted == "" {
				var gone *runner.HostError
				if !errors.As(err, &gone) || !strings.Contains(err.Error(), "may still run") {
					t.Errorf("adopted: %+v, %v", out, err)
				}
				return
			}
			if err != nil || out.Fate != c.adopted || out.NoTrace {
				t.Errorf("adopted: %+v, %v", out, err)
			}
		}
		t.Run(name, func(t *testing.T) { each(t, false) })
		t.Run(name+" in a Pod for several", func(t *testing.T) { each(t, true) })
	}
}

// The end of a stream is no end of a program: the action is found again.
func TestRun_FindsAnActionAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cut := make(chan struct{}, 1)
	c.agent = func(a *memagent.Agent) {
		a.Step = func(name string) {
			if name == "begun" {
				cut <- struct{}{}
			}
		}
	}
	cl := c.client(t, acts(1))
	s := action(t, c, "one", "tick")
	go func() {
		<-cut
		c.CutExec()
	}()
	var out strings.Builder
	s.Stdout = &out
	times := 0
	s.Ended = func(runner.Result, error) error { times++; return nil }
	res, err := cl.Run(t.Context(), s)
	if err != nil || res.ExitCode != 0 || out.String() != "one\ntwo\n" || times != 1 || len(c.fake.Calls()) != 1 {
		t.Errorf("%+v, %v, %q, ended %d times, begun %d times", res, err, out.String(), times, len(c.fake.Calls()))
	}
}

// A query is run again in another Pod; memory that ran out is its end.
func TestRun_RepeatsQueries(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cl := c.client(t, acts(0))
	s := action(t, c, "", "obey")
	s.Kind, s.Args = runner.Query, []string{"tick"}
	times := 0
	s.Stdout = writer(func(p []byte) (int, error) {
		if string(p) == "one\n" {
			if times++; times == 1 {
				c.Find(c.Pods()[0].Name).Evict("no room")
			}
		}
		return len(p), nil
	})
	if res, err := cl.Run(t.Context(), s); err != nil || string(res.Stdout) != "one\ntwo\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if n := c.Requests()["create pods"]; n != 2 {
		t.Errorf("%d Pods", n)
	}
	s.Args = []string{"obey"}
	s.Stdout = onFirst(func() { go c.Find(c.Pods()[0].Name).Kill("OOMKilled") })
	if res, err := cl.Run(t.Context(), s); err != nil || !res.OOM {
		t.Errorf("%+v, %v", res, err)
	}
}

// Queries that may share a container, and requests to workers, share Pods.
func TestRun_SharesPods(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.block.MaxPods = 2
	cl := c.client(t, acts(1))
	s := action(t, c, "", "exit", "0")
	s.Kind, s.Reuse = runner.Query, true
	for range 5 {
		if _, err := cl.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Requests()["create pods"]; n != 1 {
		t.Errorf("%d Pods for queries that share one", n)
	}
	s.Args = []string{"obey"}
	s.Timeout = 50 * time.Millisecond
	if _, err := cl.Run(t.Context(), s); err == nil {
		t.Error("it did not time out")
	}
	eventually(t, "the Pod of a query that was killed is deleted", func() bool { return len(c.Pods()) == 0 })
	s.Args, s.Timeout = []string{"exit", "0"}, time.Minute
	for _, user := range []string{"1", "2", "3", "4"} { // a Pod of another group makes room
		s.Settings.User = user
		if _, err := cl.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "idle Pods make room", func() bool { return len(c.Pods()) <= 2 })
}

// As many actions run at a time as there may be Pods.
func TestRun_LimitsPods(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.block.MaxPods = 3
	cl := c.client(t, acts(1))
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if _, err := cl.Run(t.Context(), action(t, c, string(rune('a'+i)), "exit", "0")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := c.Most(); n != 3 {
		t.Errorf("%d Pods at a time", n)
	}
}

// With a quota of three Pods fifty actions end.
func TestRun_WaitsForAQuota(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	quota := core.ResourceQuota{}
	quota.Name = "ops"
	quota.Spec.Hard = core.ResourceList{core.ResourcePods: *quantity("3")}
	c.Set(func(b *fakeapi.Behaviour) { b.Quotas = []core.ResourceQuota{quota} })
	cl := c.client(t, acts(1))
	var all sync.WaitGroup
	var waited atomic.Bool
	for i := range 50 {
		s := action(t, c, string(rune('a'+i)), "exit", "0")
		s.Waiting = func(why string) {
			waited.Store(waited.Load() || strings.HasPrefix(why, "exceeded quota: ops, requested: pods=1, used: pods=3"))
		}
		all.Go(func() {
			if _, err := cl.Run(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !waited.Load() {
		t.Error("no action reported the quota")
	}
	if n := c.Requests()["create pods"]; n > 250 {
		t.Errorf("%d requests for 50 Pods", n)
	}
}

// A claim that only one Pod may have at a time is used by one after the other, and an idle Pod gives it away.
func TestRun_WaitsForAClaim(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.block.StartTimeout = 10
	var claim sync.Mutex
	c.Set(func(b *fakeapi.Behaviour) {
		b.Kubelet = func(r *fakeapi.Running) {
			for !claim.TryLock() {
				r.Status(func(p *core.Pod) {
					p.Status.Conditions = []core.PodCondition{{Type: core.PodScheduled, Status: core.ConditionFalse, Reason: core.PodReasonUnschedulable,
						Message: "0/1 nodes are available: 1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"}}
				})
				select {
				case <-r.Gone():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
			defer claim.Unlock()
			r.Status(func(p *core.Pod) { p.Status.Conditions = nil })
			r.Start(c.newAgent())
		}
	})
	cl := c.client(t, acts(1))
	query := action(t, c, "", "exit", "0")
	query.Kind, query.Reuse = runner.Query, true
	if _, err := cl.Run(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, id := range []string{"a", "b", "c"} {
		all.Go(func() {
			if _, err := cl.Run(t.Context(), action(t, c, id, "tick")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(c.fake.Calls()); n != 4 {
		t.Errorf("%d invocations", n)
	}
}

// OpenShift refuses WebSockets.
func TestRun_FallsBackToSPDY(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Set(func(b *fakeapi.Behaviour) { b.NoWebSocket = true })
	s := action(t, c, "one", "cat")
	s.Stdin = []byte(strings.Repeat("0123456789", 100_000))
	s.KeepLog = 2 << 20
	if res, err := c.client(t, acts(1)).Run(t.Context(), s); err != nil || string(res.Stdout) != string(s.Stdin) {
		t.Errorf("%d bytes, %v", len(res.Stdout), err)
	}
}
