package place

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/fence"
	"deployster/kube/internal/podspec"
)

// A client of an older state is refused, and one that was admitted earlier begins nothing any more.
func TestEnter_LetsOneClientAct(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first := c.client(t, acts(5))
	if _, err := first.Welcome(t.Context(), first.host); err != nil {
		t.Fatal(err)
	}
	later := acts(6)
	later.Run = "later"
	next := c.client(t, later)
	if _, err := next.Welcome(t.Context(), next.host); err != nil {
		t.Fatal(err)
	}
	_, err := first.Run(t.Context(), action(t, c, "one", "exit", "0"))
	want := "deployster apply has taken over here (epoch 6, run later)"
	if err == nil || !strings.Contains(err.Error(), want) || len(c.fake.Calls()) != 0 {
		t.Errorf("got %v", err)
	}
	older := c.client(t, acts(5))
	if _, err := older.Welcome(t.Context(), older.host); err == nil || !strings.Contains(err.Error(), "has taken over here") {
		t.Errorf("got %v", err)
	}
}

// A Lease that was removed stops who acts, and the next client learns that there is no record.
func TestEnter_ReportsThatThereIsNoRecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	hello := acts(5)
	enter := func() remote.Welcome {
		t.Helper()
		client, err := serve(t, c.place(t), hello)
		if err != nil {
			t.Fatal(err)
		}
		return client.Welcome()
	}
	if first, second := enter(), enter(); !first.Unproven || !second.Unproven {
		t.Error("the first clients are not notified that there was no record")
	}
	acting := c.client(t, hello)
	if _, err := acting.Run(t.Context(), action(t, c, "one", "exit", "0")); err != nil {
		t.Fatal(err)
	}
	if enter().Unproven {
		t.Error("there is no record although a client has acted")
	}
	c.RemoveLeases()
	_, err := acting.Run(t.Context(), action(t, c, "two", "exit", "0"))
	if err == nil || !strings.Contains(err.Error(), "nothing more is started") {
		t.Errorf("got %v", err)
	}
	if n := len(c.fake.Calls()); n != 1 {
		t.Errorf("%d actions were begun", n)
	}
	if !enter().Unproven {
		t.Error("nobody is notified that the record was removed")
	}
}

// A later client that takes over while an earlier one creates a Pod does not see that Pod: the earlier one reads the Lease again
// when it runs, and begins nothing.
func TestStart_ReadsTheLeaseAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	later := acts(6)
	later.Run = "later"
	next := c.client(t, later)
	first := c.client(t, acts(5))
	var once sync.Once
	c.Set(func(b *fakeapi.Behaviour) {
		b.Fault = func(q fakeapi.Request) fakeapi.Fault {
			if q.Verb == "create" && q.Resource == "pods" {
				once.Do(func() {
					if _, err := next.Welcome(t.Context(), next.host); err != nil {
						t.Error(err)
					}
				})
			}
			return fakeapi.Fault{}
		}
	})
	_, err := first.Run(t.Context(), action(t, c, "one", "exit", "0"))
	if err == nil || !strings.Contains(err.Error(), "has taken over here (epoch 6, run later)") || len(c.fake.Calls()) != 0 {
		t.Errorf("got %v, and %d actions were begun", err, len(c.fake.Calls()))
	}
	var host *runner.HostError
	if !errors.As(err, &host) {
		t.Errorf("it is a %T", err)
	}
}

// The Lease names the Pod of an action before that is created: a Pod that vanishes is never taken for one that was not
// begun. A client that the Lease does not name any more creates none.
func TestStart_NotesThePodFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	client, err := api.New(c.Config(), fakeapi.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	created := 0
	c.Set(func(b *fakeapi.Behaviour) {
		b.Fault = func(q fakeapi.Request) fakeapi.Fault {
			if q.Verb != "create" || q.Resource != "pods" {
				return fakeapi.Fault{}
			}
			created++
			var pod core.Pod
			open, err := fence.OpenIn(t.Context(), client, leaseOf(hash("lineage")))
			if err := errors.Join(err, json.Unmarshal(q.Body, &pod)); err != nil || !slices.Contains(open, pod.Name) {
				t.Errorf("the Pod %s is created, and the Lease names %q: %v", pod.Name, open, err)
			}
			return fakeapi.Fault{}
		}
	})
	first := c.client(t, acts(5))
	for _, id := range []string{"one", "two"} {
		if _, err := first.Run(t.Context(), action(t, c, id, "exit", "0")); err != nil {
			t.Fatal(err)
		}
	}
	later := acts(6)
	later.Run = "later"
	next := c.client(t, later)
	if _, err := next.Welcome(t.Context(), next.host); err != nil {
		t.Fatal(err)
	}
	_, err = first.Run(t.Context(), action(t, c, "three", "exit", "0"))
	if err == nil || !strings.Contains(err.Error(), "has taken over here (epoch 6, run later)") || created != 2 {
		t.Errorf("got %v, and %d Pods were created", err, created)
	}
}

// What an earlier run has left of its queries is removed, although its agents still run.
func TestEnter_RemovesQueriesOfEarlierRuns(t *testing.T) {
	t.Parallel()
	c, k := newCluster(t), &killed{at: -1}
	first := c.doomed(t, acts(1), k)
	query, act := action(t, c, "", "obey"), action(t, c, "one", "obey")
	query.Kind = runner.Query
	var begun sync.WaitGroup
	for _, s := range []runner.Spec{query, act} {
		begun.Add(1)
		s.Stdout = onFirst(begun.Done)
		go func() { _, _ = first.Run(t.Context(), s) }() // its client is killed
	}
	begun.Wait()
	k.kill()
	h := acts(2)
	h.Run = "later"
	next := c.client(t, h)
	if _, err := next.Welcome(t.Context(), next.host); err != nil {
		t.Fatal(err)
	}
	for _, pod := range c.Pods() {
		if pod.Labels[podspec.LabelKind] != string(runner.Action) {
			t.Errorf("the Pod %s is there", pod.Name)
		}
	}
	if n := len(c.Pods()); n != 1 {
		t.Errorf("%d Pods", n)
	}
}

// Without the right to read the namespace the client learns which other rights it lacks.
func TestEnter_NamesMissingRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Set(func(b *fakeapi.Behaviour) {
		b.Allow = func(a authorization.ResourceAttributes) bool { return a.Resource != "namespaces" && a.Verb != "delete" }
		b.Fault = func(q fakeapi.Request) fakeapi.Fault {
			if q.Resource != "namespaces" {
				return fakeapi.Fault{}
			}
			return fakeapi.Fault{Err: apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "jobs", errors.New("no right"))}
		}
	})
	_, err := serve(t, c.place(t), acts(1))
	if err == nil || !strings.Contains(err.Error(), "the account lacks rights in the namespace jobs: delete of pods; get of namespaces") {
		t.Errorf("got %v", err)
	}
}

// A state file of a command in a Pod would end with the Pod.
func TestEnter_RefusesAStateFileOfAPod(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	shared := acts(1)
	shared.Store = "s3://state"
	for _, h := range []remote.Hello{acts(0), acts(1), shared} {
		p := c.place(t)
		p.o.InPod = true
		_, err := serve(t, p, h)
		if lost := h.Epoch == 1 && h.Store == ""; lost != (err != nil) || lost && !strings.Contains(err.Error(), "would end with the Pod") {
			t.Errorf("epoch %d, store %q: %v", h.Epoch, h.Store, err)
		}
	}
}

// A namespace that was created again is another machine.
func TestEnter_KnowsTheNamespace(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cl := c.client(t, acts(1))
	cl.host.Machine = "ns-0"
	s := action(t, c, "one", "exit", "0")
	if _, err := cl.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "it is the machine ns-1 now") {
		t.Errorf("got %v", err)
	}
	plain := runner.Host{Name: "jobs", Address: "prod/jobs"}
	if f, err := cl.Facts(t.Context(), plain); err != nil || f.Hostname != "jobs" {
		t.Errorf("%+v, %v", f, err)
	}
}
