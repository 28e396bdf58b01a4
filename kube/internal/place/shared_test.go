package place

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
)

// sharing returns an action, or with the ID "" a query, of a type whose actions share Pods.
func sharing(t *testing.T, c *cluster, id string, args ...string) runner.Spec {
	t.Helper()
	s := action(t, c, id, args...)
	s.Reference, s.Reuse, s.ReuseActions = "acme/file:1", true, true
	if id == "" {
		s.Kind = runner.Query
	}
	return s
}

// Actions of a type that allows it share a Pod with its queries; no others do, and after one that failed or was killed, none.
func TestRun_SharesPodsWithActions(t *testing.T) {
	c := newCluster(t)
	cl := c.client(t, acts(1))
	runs := func(s runner.Spec) string {
		t.Helper()
		res, err := cl.Run(t.Context(), s)
		if err != nil && s.Timeout == time.Minute {
			t.Fatal(err)
		}
		return res.Pod
	}
	first := runs(sharing(t, c, "", "exit", "0"))
	for _, id := range []string{"one", "two", "three"} {
		if pod := runs(sharing(t, c, id, "exit", "0")); pod != first {
			t.Errorf("%s runs in %s, and not in %s", id, pod, first)
		}
	}
	for what, prefix := range map[string]string{"another type of the image": groupPrefix, "other settings": groupPrefix, "a worker": groupPrefix,
		"a type that does not allow it": ownPrefix, "workers = 0": ownPrefix, "no ID, by which it is found": ownPrefix} {
		s := sharing(t, c, strings.ReplaceAll(what, " ", "-"), "exit", "0")
		switch what {
		case "another type of the image":
			s.Reference = "acme/file:1#other"
		case "other settings":
			s.Settings.User = "7"
		case "a worker":
			s.Worker = &runner.Worker{Args: []string{"work"}}
		case "a type that does not allow it":
			s.ReuseActions = false
		case "workers = 0":
			s.Settings.Workers = runner.NoWorkers
		default:
			s.ID = ""
		}
		if pod := runs(s); pod == first || !strings.HasPrefix(pod, prefix) {
			t.Errorf("%s: it runs in %s, and others in %s", what, pod, first)
		}
	}
	if pod := runs(sharing(t, c, "fails", "exit", "3")); pod != first {
		t.Errorf("it runs in %s", pod)
	}
	second := runs(sharing(t, c, "after-a-failure", "exit", "0"))
	late := sharing(t, c, "late", "obey")
	late.Timeout = 50 * time.Millisecond
	if pod := runs(late); second == first || pod != second {
		t.Errorf("after a failure %s is used, and then %s", second, pod)
	}
	if third := runs(sharing(t, c, "after-a-kill", "exit", "0")); third == first || third == second {
		t.Errorf("after a kill %s is used", third)
	}
	eventually(t, "Pods after a failure are deleted", func() bool { return c.Find(first) == nil && c.Find(second) == nil })
}

// Actions that share a Pod run one at a time in it. One that waits is not begun in a Pod that is being deleted.
func TestRun_SharesPodsOneAtATime(t *testing.T) {
	c := newCluster(t)
	c.block.MaxPods = 1
	cl := c.client(t, acts(1))
	var now, most, all atomic.Int32
	first, goOn := make(chan bool), make(chan bool)
	c.fake.Add(maker, func(ctx context.Context, s runner.Spec, _ io.Reader, _, _ io.Writer) int {
		n := now.Add(1)
		defer now.Add(-1)
		most.Store(max(most.Load(), n))
		if all.Add(1) == 1 {
			close(first)
			<-goOn
		}
		time.Sleep(time.Millisecond)
		return 0
	})
	image, err := c.fake.Resolve(t.Context(), maker)
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	pods := sync.Map{}
	for i := range 8 {
		s := sharing(t, c, fmt.Sprint("a", i))
		s.Digest = image.Digest
		if i == 1 {
			<-first
		}
		ended.Go(func() {
			res, err := cl.Run(t.Context(), s)
			if err != nil {
				t.Error(err)
			}
			pods.Store(res.Pod, true)
		})
	}
	pod := c.Pods()[0]
	admin, err := api.New(c.Config(), fakeapi.Namespace)
	if err == nil {
		err = admin.DeletePod(t.Context(), pod.Name, "", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	close(goOn)
	ended.Wait()
	count := 0
	pods.Range(func(any, any) bool { count++; return true })
	if most.Load() != 1 || all.Load() != 8 || count != 2 {
		t.Errorf("%d at a time, %d in all, in %d Pods", most.Load(), all.Load(), count)
	}
}

// A Pod that is being deleted gets no further invocation: its agent would refuse it.
func TestRun_LeavesAPodThatIsBeingDeleted(t *testing.T) {
	c := newCluster(t)
	p := c.place(t)
	cl := &client{c: c, host: runner.Host{Name: "jobs", Address: "prod/jobs", Kubernetes: &c.block}}
	cl.Places = routerTo(t, c, func() (*remote.Client, error) { return serve(t, p, acts(1)) })
	first, err := cl.Run(t.Context(), sharing(t, c, "one", "exit", "0"))
	if err != nil {
		t.Fatal(err)
	}
	seen, _ := p.pods.Get(first.Pod)
	drained, now := seen.Pod.DeepCopy(), meta.Now()
	drained.DeletionTimestamp = &now
	p.pods.Put(drained)
	second, err := cl.Run(t.Context(), sharing(t, c, "two", "exit", "0"))
	if err != nil || second.Pod == first.Pod {
		t.Errorf("%+v, %v", second, err)
	}
}
