package place

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fence"
	"deployster/kube/internal/pods"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
	"deployster/protocol"
)

// The labels of a namespace that Pod Security reads.
const (
	enforce        = "pod-security.kubernetes.io/enforce"
	enforceVersion = "pod-security.kubernetes.io/enforce-version"
)

// firstPatience is how long the first call of a client is tried again: whether a cluster is there is shown soon.
const firstPatience = 3 * time.Second

// Enter implements remote.Place. It is called once.
func (p *Place) Enter(ctx context.Context, h remote.Hello) (remote.Welcome, error) {
	at := p.o.API.With(min(firstPatience, p.o.API.Patience))
	version, err := at.Server(ctx)
	if err != nil {
		return remote.Welcome{}, answered(err)
	}
	ns, err := at.GetNamespace(ctx)
	switch {
	case apierrors.IsForbidden(err): // the other rights that are missing are named too
		return remote.Welcome{}, cmp.Or(p.mayWork(ctx, h.Epoch != 0), err)
	case err != nil:
		return remote.Welcome{}, answered(err)
	case p.o.InPod && h.Epoch != 0 && h.Store == "":
		return remote.Welcome{}, errors.New("the state is a file, which would end with the Pod of this command. Keep it in a store: " +
			"state = \"s3://...\" in the deployster block, or -state=dir:///DIR in a PersistentVolumeClaim")
	case ns.DeletionTimestamp != nil:
		return remote.Welcome{}, fmt.Errorf("the namespace %s is being deleted", ns.Name)
	}
	if err := p.mayWork(ctx, h.Epoch != 0); err != nil {
		return remote.Welcome{}, err
	}
	p.hello, p.run = h, hash(h.Run)
	selector := podspec.LabelRun + "=" + p.run
	if h.Lineage != "" {
		p.lineage = hash(h.Lineage)
		selector = podspec.LabelLineage + "=" + p.lineage
	}
	p.pods = pods.New(p.o.API, selector, isOwn, p.o.Timing.Pods)
	if h.Epoch != 0 {
		if h.Lineage == "" {
			return remote.Welcome{}, fmt.Errorf("the client's state has no lineage")
		}
		if p.fence, err = fence.Enter(ctx, p.o.API, leaseOf(p.lineage), h, p.o.API.Patience); err != nil {
			return remote.Welcome{}, err
		}
		list, err := p.pods.List(ctx)
		if err != nil {
			return remote.Welcome{}, answered(err)
		}
		go p.pods.Follow(p.ctx) // the last status of what ends now is seen
		if err := p.takeOver(ctx, list); err != nil {
			return remote.Welcome{}, err
		}
	} else {
		go p.pods.Follow(p.ctx)
	}
	unproven := p.fence != nil && p.fence.Unproven()
	return remote.Welcome{Build: p.o.Build, Boot: rand.Text(), Clock: time.Now(), Unproven: unproven,
		Facts:     protocol.HostFacts{Hostname: ns.Name, OS: remote.ClusterOS, OSVersion: version, Machine: string(ns.UID)},
		Namespace: &remote.Namespace{PodSecurity: ns.Labels[enforce], PodSecurityVersion: ns.Labels[enforceVersion]}}, nil
}

// takeOver lets no earlier client act any more: each agent of the state that runs learns the epoch, and the
// other Pods of clients that act are deleted.
func (p *Place) takeOver(ctx context.Context, list []core.Pod) error {
	errs := make(chan error, len(list))
	limit := make(chan struct{}, 16)
	var all sync.WaitGroup
	for i := range list {
		pod := &list[i]
		epoch, _ := strconv.ParseInt(pod.Annotations[podspec.AnnotationEpoch], 10, 64)
		end := podstatus.EndOf(pod)
		if epoch == 0 || end.Over && !end.Idle() { // the outcome of an action may be in the status of a Pod that has ended
			continue
		}
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			errs <- p.takeOverPod(ctx, pod)
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// helloLimit is how long an agent may take to answer a later client.
const helloLimit = 10 * time.Second

// takeOverPod notifies the agent of a Pod of the client, or deletes the Pod if it cannot be reached.
func (p *Place) takeOverPod(ctx context.Context, pod *core.Pod) error {
	end := podstatus.EndOf(pod)
	if end.Idle() || pod.Labels[podspec.LabelKind] == string(runner.Query) { // no action was ever requested of it
		p.undo(pod.Name, string(pod.UID))
		return nil
	}
	if end.Begun {
		within, cancel := context.WithTimeout(ctx, min(helloLimit, p.o.Timing.Patience))
		_, err := p.agents.Welcome(within, at(pod.Name))
		cancel()
		p.agents.Forget(pod.Name) // a connection would keep the Pod
		if err == nil {
			return nil
		}
		if refused, is := refusal(err); is {
			return refused
		}
	}
	err := p.o.API.DeletePod(ctx, pod.Name, string(pod.UID), nil)
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("the Pod %s of an earlier command cannot be reached, and may not be deleted: %w", pod.Name, err)
	}
	return err
}

// at returns a Pod as a host of the router.
func at(pod string) runner.Host { return runner.Host{Name: pod, Address: pod} }
