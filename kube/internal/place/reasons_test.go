package place

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/podspec"
)

const image = "registry.example/acme/probe@"

// What a person sees while a Pod waits, and what ends the wait.
func TestWaiting_HasItsReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do    func(*fakeapi.Running)
		waits string // what is reported while it waits; "" = the start fails at once
		fails string // the error; "" = it starts after all
	}{
		"no node": {func(r *fakeapi.Running) {
			r.Status(func(p *core.Pod) {
				p.Status.Conditions = []core.PodCondition{{Type: core.PodScheduled, Status: core.ConditionFalse,
					Reason: core.PodReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient memory"}}
			})
		}, "0/3 nodes are available: 3 Insufficient memory",
			"no Pod could be started: 0/3 nodes are available: 3 Insufficient memory (1s)"},
		"gated": {func(r *fakeapi.Running) {
			r.Status(func(p *core.Pod) {
				p.Status.Conditions = []core.PodCondition{{Type: core.PodScheduled, Status: core.ConditionFalse, Reason: "SchedulingGated",
					Message: "Scheduling is blocked due to non-empty scheduling gates"}}
			})
		}, "SchedulingGated: Scheduling is blocked due to non-empty scheduling gates",
			"no Pod could be started: SchedulingGated: Scheduling is blocked due to non-empty scheduling gates (1s)"},
		"pulling": {func(r *fakeapi.Running) {
			r.Waiting(podspec.Container, "ContainerCreating", "")
			r.Event("Pulling", `Pulling image "registry.example/acme/db"`)
		}, "pulling registry.example/acme/db", "no Pod could be started: pulling registry.example/acme/db (1s)"},
		"a missing secret": {func(r *fakeapi.Running) {
			r.Waiting(podspec.Container, "ContainerCreating", "")
			r.Event("FailedMount", `MountVolume.SetUp failed for volume "plug-0" : secret "sa" not found`)
		}, `FailedMount: MountVolume.SetUp failed for volume "plug-0" : secret "sa" not found`,
			`no Pod could be started: FailedMount: MountVolume.SetUp failed for volume "plug-0" : secret "sa" not found (1s)`},
		"initializing": {func(r *fakeapi.Running) { r.Waiting(podspec.Container, "PodInitializing", "") }, "PodInitializing on node-7",
			"no Pod could be started: PodInitializing on node-7 (1s)"},
		"a slow registry": {func(r *fakeapi.Running) { r.Waiting(podspec.Container, "ErrImagePull", "i/o timeout") },
			"pulling " + image + "DIGEST failed: i/o timeout",
			"no Pod could be started: pulling " + image + "DIGEST failed: i/o timeout (1s)"},
		"unauthorized": {func(r *fakeapi.Running) { r.Waiting(podspec.Container, "ErrImagePull", "401 Unauthorized") }, "",
			"an image cannot be pulled: " + image + "DIGEST: 401 Unauthorized (kubelet on node-7)"},
		"no such image": {func(r *fakeapi.Running) { r.Waiting(podspec.Container, "ErrImagePull", "manifest: not found") }, "",
			"an image cannot be pulled: " + image + "DIGEST: manifest: not found (kubelet on node-7)"},
		"no platform": {func(r *fakeapi.Running) {
			r.Waiting(podspec.Container, "ErrImagePull", "no match for platform in manifest")
		}, "", "an image cannot be pulled: " + image + "DIGEST: no match for platform in manifest (kubelet on node-7)"},
		"a wrong name": {func(r *fakeapi.Running) { r.Waiting(podspec.Container, "InvalidImageName", "invalid reference") }, "",
			"an image cannot be pulled: " + image + "DIGEST: InvalidImageName invalid reference (kubelet on node-7)"},
		"a missing key": {func(r *fakeapi.Running) {
			r.Waiting(podspec.Container, "CreateContainerConfigError", "couldn't find key k")
		}, "",
			"no Pod could be started: CreateContainerConfigError: couldn't find key k (kubelet on node-7)"},
		"no such program": {func(r *fakeapi.Running) { r.Waiting(podspec.Container, "RunContainerError", "no such file") }, "",
			"no Pod could be started: RunContainerError: no such file (kubelet on node-7)"},
		"nothing": {func(*fakeapi.Running) {}, "the scheduler has not chosen a node yet",
			"no Pod could be started: the scheduler has not chosen a node yet (1s)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newCluster(t)
			k.block.StartTimeout = 1
			k.Set(func(b *fakeapi.Behaviour) {
				b.Kubelet = func(r *fakeapi.Running) {
					c.do(r)
					<-r.Gone()
				}
			})
			s := action(t, k, "one", "exit", "0")
			waits := &reasons{}
			s.Waiting = waits.say
			_, err := k.client(t, acts(1)).Run(t.Context(), s)
			plain := func(text string) string { return strings.ReplaceAll(text, s.Digest, "DIGEST") }
			var unknown *runner.UnknownError
			var host *runner.HostError
			var start *runner.StartError
			if !errors.As(err, &start) || plain(err.Error()) != c.fails || errors.As(err, &unknown) || errors.As(err, &host) {
				t.Errorf("got  %v\nwant %s", err, c.fails)
			}
			all := waits.get()
			if c.waits != "" && !slices.ContainsFunc(all, func(why string) bool { return plain(why) == c.waits }) {
				t.Errorf("reported %q", all)
			}
			eventually(t, "its Pod is deleted", func() bool { return len(k.Pods()) == 0 })
		})
	}
}

// What each Pod waits for is not reported while it is usual.
func TestWaiting_IsQuietWhileItIsUsual(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	k.usual, k.block.MaxPods = time.Hour, 1
	k.Set(func(b *fakeapi.Behaviour) {
		b.Kubelet = func(r *fakeapi.Running) {
			time.Sleep(120 * time.Millisecond) // no node is chosen
			r.Waiting(podspec.Container, "PodInitializing", "")
			time.Sleep(250 * time.Millisecond)
			r.Start(k.newAgent())
		}
	})
	waits := &reasons{}
	cl := k.client(t, acts(1))
	var all sync.WaitGroup
	for _, id := range []string{"one", "two"} {
		all.Go(func() {
			s := action(t, k, id, "exit", "0")
			s.Waiting = waits.say
			if _, err := cl.Run(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := waits.get(); len(got) > 0 {
		t.Errorf("reported %q", got)
	}
}

// reasons are what was reported.
type reasons struct {
	mu  sync.Mutex
	all []string
}

func (r *reasons) say(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, why)
}

func (r *reasons) get() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// What the API server refuses is an error at once.
func TestCreate_ReportsRefusals(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "pods"}
	for want, refusal := range map[string]error{
		`the cluster refused a Pod: it violates PodSecurity "restricted:latest": unrestricted capabilities`: apierrors.NewForbidden(
			resource, "d", errors.New(`violates PodSecurity "restricted:latest": unrestricted capabilities`)),
		`the cluster refused a Pod: pods "d" is forbidden: admission webhook "p" denied the request: no`: apierrors.NewForbidden(
			resource, "d", errors.New(`admission webhook "p" denied the request: no`)),
		`the cluster refused a Pod: Pod "d" is invalid`: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "d", nil),
	} {
		c := newCluster(t)
		c.Set(func(b *fakeapi.Behaviour) { b.Admit = func(*core.Pod) error { return refusal } })
		begin := time.Now()
		_, err := c.client(t, acts(1)).Run(t.Context(), action(t, c, "one", "exit", "0"))
		var start *runner.StartError
		if !errors.As(err, &start) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if time.Since(begin) > time.Minute || c.Requests()["create pods"] != 1 {
			t.Errorf("it was tried %d times", c.Requests()["create pods"])
		}
	}
}

// denied is the answer to whoever has no right to create Pods.
var denied = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "",
	fmt.Errorf(`%s cannot create resource "pods" in API group "" in the namespace "jobs"`, `User "u"`))

// terminating is the answer in a namespace that is being deleted.
func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "d",
		errors.New("unable to create new content in namespace jobs because it is being terminated"))
	err.ErrStatus.Details.Causes = []meta.StatusCause{{Type: core.NamespaceTerminatingCause, Field: "metadata.namespace"}}
	return err
}

// A busy server is obeyed, and one that was just started and does not know yet who has which rights. A right that is taken away is no rule
// of the namespace, nor is its end.
func TestCreate_WaitsForABusyServer(t *testing.T) {
	t.Parallel()
	for _, answer := range []error{apierrors.NewTooManyRequests("busy", 0), denied, terminating()} {
		for _, left := range []int{2, 1000} {
			if left == 2 && apierrors.HasStatusCause(answer, core.NamespaceTerminatingCause) {
				continue // it ends the command
			}
			c, lasts := newCluster(t), left > 2
			var mu sync.Mutex
			c.Set(func(b *fakeapi.Behaviour) {
				b.Fault = func(q fakeapi.Request) fakeapi.Fault {
					mu.Lock()
					defer mu.Unlock()
					if q.Verb != "create" || q.Resource != "pods" || left == 0 {
						return fakeapi.Fault{}
					}
					left--
					return fakeapi.Fault{Err: answer}
				}
			})
			_, err := c.client(t, acts(1)).Run(t.Context(), action(t, c, "one", "exit", "0"))
			var host *runner.HostError
			var unknown *runner.UnknownError
			if lasts != errors.As(err, &host) || lasts != (err != nil) || errors.As(err, &unknown) {
				t.Errorf("%v, %d times more: %v", answer, left, err)
			}
		}
	}
}

// A Pod that the cluster weakened is deleted, and nothing is begun in it.
func TestCreate_RefusesWeakerPods(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Set(func(b *fakeapi.Behaviour) {
		b.Admit = func(p *core.Pod) error { p.Spec.HostNetwork = true; return nil }
	})
	_, err := c.client(t, acts(1)).Run(t.Context(), action(t, c, "one", "exit", "0"))
	if err == nil || err.Error() != "the cluster changed the Pod: it has the network of the node" || len(c.fake.Calls()) != 0 {
		t.Errorf("got %v", err)
	}
	eventually(t, "the Pod is deleted", func() bool { return len(c.Pods()) == 0 })
}

// What a cluster adds to each Pod is noted once.
func TestCreate_NotesWhatTheClusterAdds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Set(func(b *fakeapi.Behaviour) {
		b.Admit = func(p *core.Pod) error {
			p.Spec.Volumes = append(p.Spec.Volumes, core.Volume{Name: "vault"})
			return nil
		}
	})
	var mu sync.Mutex
	var notes []string
	c.note = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, text)
	}
	cl := c.client(t, acts(1))
	for _, id := range []string{"one", "two"} {
		if _, err := cl.Run(t.Context(), action(t, c, id, "exit", "0")); err != nil {
			t.Error(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(notes, []string{"the cluster adds to Pods: volume vault"}) {
		t.Errorf("it notes %q", notes)
	}
}

// An interrupt while a Pod starts deletes it; nothing is begun.
func TestCreate_IsCancelled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Set(func(b *fakeapi.Behaviour) { b.Kubelet = func(r *fakeapi.Running) { <-r.Gone() } })
	ctx, cancel := contextWithCause(t)
	s := action(t, c, "one", "exit", "0")
	s.Waiting = func(string) { cancel(errInterrupted) }
	_, err := c.client(t, acts(1)).Run(ctx, s)
	var unknown *runner.UnknownError
	if !errors.Is(err, errInterrupted) || errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	eventually(t, "the Pod is deleted", func() bool { return len(c.Pods()) == 0 })
}

var errInterrupted = errors.New("the user interrupted it")
