package place

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fence"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
	"deployster/kube/internal/pool"
)

// errExists reports that a Pod of that name exists already: the action was begun, or may be.
var errExists = errors.New("a Pod of this action exists already")

// quotaError reports that a quota has no room for a Pod.
type quotaError struct{ why string }

func (e *quotaError) Error() string { return e.why }

// reporter reports why an invocation waits: each reason once, and at most as often as the Timing allows.
type reporter struct {
	to   func(string)
	last string
	at   time.Time
	each time.Duration
}

func (r *reporter) say(why string) {
	if r.to == nil || why == r.last || why != "" && time.Since(r.at) < r.each {
		return
	}
	r.last, r.at = why, time.Now()
	r.to(why)
}

// take returns a Pod that runs, in which the invocation may be begun. The caller must leave it.
func (p *Place) take(ctx context.Context, s runner.Spec) (*pool.Member, pool.Use, error) {
	o, use, group, err := p.order(ctx, s)
	if err != nil {
		return nil, use, err
	}
	waits, begun := &reporter{to: s.Waiting, each: p.o.Timing.Report}, time.Now()
	refused := time.Time{} // since when a quota has no room, although this command has no Pod
	for {
		freed := p.pool.Freed()
		m, fresh, err := p.pool.Take(ctx, group, o.Name, use, func(starting *pool.Member) {
			if starting != nil {
				waits.say(starting.Why())
				return
			}
			waits.say(p.usual(begun, pool.Full))
		})
		if err != nil {
			return nil, use, err
		}
		if fresh {
			p.begin(ctx, m, o, use)
		}
		err = p.started(ctx, m, waits)
		if err == nil && use != pool.Own && p.ends(m) {
			p.pool.End(m)
			p.pool.Leave(m, use)
			o.Name = randomPod(groupPrefix) // the Pod may be that of this order
			continue
		}
		if err == nil {
			waits.say("")
			return m, use, nil
		}
		var quota *quotaError
		switch {
		case ctx.Err() != nil:
			p.pool.Leave(m, use)
			return nil, use, context.Cause(ctx)
		case !errors.As(err, &quota):
			return nil, use, err
		case refused.IsZero():
			refused = time.Now()
		case time.Since(refused) > podspec.StartTimeout(p.o.Cluster):
			return nil, use, late(quota.why, podspec.StartTimeout(p.o.Cluster))
		}
		waits.say(quota.why)
		if p.pool.Used() > 0 {
			refused = time.Time{} // one of them will end
		}
		select {
		case <-ctx.Done():
			return nil, use, context.Cause(ctx)
		case <-freed:
		case <-time.After(p.o.Timing.Quota):
		}
	}
}

// ends reports whether a Pod is being deleted, by a drain for example: its agent begins nothing any more.
func (p *Place) ends(m *pool.Member) bool {
	seen, _ := p.pods.Get(m.Name)
	return seen.Gone || seen.Pod != nil && seen.Pod.DeletionTimestamp != nil
}

// started waits until a Pod runs, and reports why it does not.
func (p *Place) started(ctx context.Context, m *pool.Member, waits *reporter) error {
	tick := time.NewTicker(min(p.o.Timing.Report, 100*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-m.Started():
			return m.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if why := m.Why(); why != "" {
				waits.say(why)
			}
		}
	}
}

// begin makes the Pod of a member. A Pod for one invocation is given up with that; others start for the next one too.
func (p *Place) begin(ctx context.Context, m *pool.Member, o podspec.Order, use pool.Use) {
	if use != pool.Own {
		ctx = p.ctx
	}
	go func() {
		err := p.start(ctx, m, o)
		var quota *quotaError
		switch {
		case errors.As(err, &quota):
			p.pool.Refused(m)
		case err != nil:
			p.pool.Drop(m)
		}
		m.Begin(err)
	}()
}

// start creates a Pod, waits until it runs, and then reads whether the client may still act. Otherwise nothing is
// begun in the Pod, and it is deleted.
func (p *Place) start(ctx context.Context, m *pool.Member, o podspec.Order) error {
	o.Try = rand.Text()
	pod, err := o.Pod(api.AnnotationTry)
	if err != nil {
		return impossible(err)
	}
	if p.fence != nil && o.Acts {
		if err := p.fence.Open(ctx, o.Name); err != nil {
			return refused(err)
		}
	}
	got, err := p.o.API.CreatePod(ctx, pod)
	if err != nil {
		return p.notCreated(ctx, o, err)
	}
	p.pods.Put(got)
	m.UID = string(got.UID)
	injected, err := podspec.Compare(pod, got)
	if err == nil {
		p.noteInjected(injected)
		err = p.running(ctx, m, o)
	}
	if err == nil && p.fence != nil && o.Acts {
		if err = p.fence.Check(ctx); err != nil {
			err = refused(err)
		}
	}
	if err != nil {
		p.undo(o.Name, string(got.UID))
	}
	return err
}

// notCreated returns the error for a Pod that could not be created. If the answer was lost, the Pod may exist.
func (p *Place) notCreated(ctx context.Context, o podspec.Order, err error) error {
	why, failure := podstatus.Refused(err)
	if apierrors.IsAlreadyExists(err) {
		return errExists
	}
	p.settled(o.Name) // nothing is begun in it, even if it is created late
	switch {
	case api.Denied(err), apierrors.HasStatusCause(err, core.NamespaceTerminatingCause): // no rule that another Pod could keep
		return unreachable(err)
	case why != "":
		return &quotaError{why}
	case failure != nil:
		return failure
	case !api.Transient(err) && ctx.Err() == nil:
		return unreachable(err)
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	if there, failed := p.o.API.GetPod(after, o.Name); failed == nil && there != nil && there.Annotations[api.AnnotationTry] == o.Try {
		p.undo(o.Name, string(there.UID))
	}
	return unreachable(err)
}

// undoLimit is how long the deletion of a Pod may take in which nothing was begun.
const undoLimit = 10 * time.Second

// undo deletes a Pod in which nothing runs. Another Pod of that name, of a later client, stays.
func (p *Place) undo(name, uid string) {
	if uid == "" {
		return // it was not created
	}
	ctx, cancel := context.WithTimeout(context.Background(), undoLimit)
	defer cancel()
	err := p.settle(ctx, name)
	if err == nil {
		now := int64(0)
		err = p.o.API.With(undoLimit).DeletePod(ctx, name, uid, &now)
	}
	if err != nil {
		p.note(fmt.Sprintf("the Pod %s is not deleted: %s. `deployster host check -prune` removes it once it has ended", name, err))
		return
	}
	p.forget(name)
}

// settle writes that nothing in a Pod is open, before the Pod is deleted: a later client would take the Pod for lost. It
// returns an error if a later client acts, which takes over the Pod too.
func (p *Place) settle(ctx context.Context, name string) error {
	if p.fence == nil {
		return nil
	}
	p.fence.Settled(name)
	err := p.fence.Close(ctx)
	if missing := (*fence.MissingError)(nil); errors.As(err, &missing) {
		return nil // there is no later client, and no record to mend
	}
	return err
}

// remove deletes the Pod of a member in which nothing runs.
func (p *Place) remove(m *pool.Member) {
	p.removing.Go(func() {
		p.undo(m.Name, m.UID)
		p.pool.Free()
	})
}

// forget drops what is known of a Pod that was deleted after everything in it was recorded.
func (p *Place) forget(name string) {
	p.agents.Forget(name)
	p.pods.Forget(name)
	p.settled(name)
}

func (p *Place) settled(name string) {
	if p.fence != nil {
		p.fence.Settled(name)
	}
}

// note notes something for people.
func (p *Place) note(text string) {
	if p.o.Note != nil {
		p.o.Note(text)
	}
}

// noteInjected notes once what the cluster adds to Pods.
func (p *Place) noteInjected(injected []string) {
	if len(injected) == 0 {
		return
	}
	slices.Sort(injected)
	text := strings.Join(injected, ", ")
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.noted[text] {
		p.noted[text] = true
		p.note("the cluster adds to Pods: " + text)
	}
}
