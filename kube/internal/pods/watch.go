package pods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"deployster/kube/internal/api"
)

// Timing reports how long a watch lasts at most before all Pods are listed again, how long a Pod that is waited
// for may go unheard before it is read by itself, and the pause after a watch that failed.
type Timing struct{ Watch, Read, Pause time.Duration }

// DefaultTiming is the Timing for real clusters.
func DefaultTiming() Timing {
	return Timing{Watch: 5 * time.Minute, Read: 15 * time.Second, Pause: time.Second}
}

// mostSeen is how many Pods are followed that only events name.
const mostSeen = 10_000

// keptEvents is how many events are kept of each Pod.
const keptEvents = 10

// Seen is what is known of a Pod.
type Seen struct {
	Pod    *core.Pod // as it was seen last; nil = it was not seen
	Gone   bool      // the object does not exist any more
	Events []core.Event
}

// Pods are the Pods that a selector matches, as they were seen last.
type Pods struct {
	api      *api.Client
	selector string
	own      func(name string) bool // reports whether a name may be that of such a Pod
	timing   Timing

	first string // the version of the list of List, from which the first watch begins

	mu        sync.Mutex
	seen      map[string]*Seen   // by name
	puts      map[string]bool    // seen by a call since the last list was requested
	forgotten map[types.UID]bool // what a watch reports of them comes late
	changed   chan struct{}      // closed at the next change
}

// New returns the Pods that a selector of labels matches, and whose names own accepts. Follow keeps them up to date.
func New(c *api.Client, selector string, own func(name string) bool, t Timing) *Pods {
	return &Pods{api: c, selector: selector, own: own, timing: t, seen: map[string]*Seen{}, puts: map[string]bool{},
		forgotten: map[types.UID]bool{}, changed: make(chan struct{})}
}

// Get returns what is known of a Pod, and a channel that is closed at the next change of any Pod.
func (p *Pods) Get(name string) (Seen, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.seen[name]; s != nil {
		return *s, p.changed
	}
	return Seen{}, p.changed
}

// All returns the Pods that exist, as they were seen last.
func (p *Pods) All() (all []*core.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.seen {
		if s.Pod != nil && !s.Gone {
			all = append(all, s.Pod)
		}
	}
	return all
}

// Put notes a Pod that a call has returned.
func (p *Pods) Put(pod *core.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called(pod)
}

// Forget drops what is known of a Pod. What a watch still reports of it is ignored.
func (p *Pods) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.seen[name]; s != nil && s.Pod != nil {
		p.forgotten[s.Pod.UID] = true
	}
	delete(p.seen, name)
}

// Read reads a Pod from the API server, and notes it. Of a Pod that was seen before and is gone now, the watch has the last
// status, which Read waits for.
func (p *Pods) Read(ctx context.Context, name string) (Seen, error) {
	pod, err := p.api.GetPod(ctx, name)
	if err != nil {
		return Seen{}, err
	}
	if pod == nil {
		limit := time.After(p.timing.Read)
		for s, changed := p.Get(name); s.Pod != nil && !s.Gone; s, changed = p.Get(name) {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
			case <-limit:
			}
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seen[name]
	switch {
	case pod != nil:
		p.called(pod)
	case s != nil && s.Pod != nil:
		p.put(s.Pod, true)
	default:
		return Seen{Gone: true}, nil
	}
	return *p.seen[name], nil
}

// called notes a Pod that a call has returned: it exists.
func (p *Pods) called(pod *core.Pod) {
	p.puts[pod.Name] = true
	delete(p.forgotten, pod.UID)
	p.put(pod, false)
}

// put notes a Pod. What is older than what was seen is ignored.
func (p *Pods) put(pod *core.Pod, gone bool) {
	s := p.seen[pod.Name]
	switch {
	case p.forgotten[pod.UID]:
		return
	case s == nil:
		s = &Seen{}
	case s.Pod != nil && s.Pod.UID != pod.UID && older(pod.ResourceVersion, s.Pod.ResourceVersion):
		return // the end of an earlier Pod of that name
	case s.Pod != nil && s.Pod.UID != pod.UID:
		s = &Seen{}
	case s.Pod == nil: // events came first
		s = &Seen{Events: slices.DeleteFunc(s.Events, func(e core.Event) bool { return e.InvolvedObject.UID != pod.UID })}
	}
	if s.Gone || s.Pod != nil && older(pod.ResourceVersion, s.Pod.ResourceVersion) && !gone {
		return
	}
	next := &Seen{Pod: pod, Gone: gone, Events: s.Events}
	p.seen[pod.Name] = next
	close(p.changed)
	p.changed = make(chan struct{})
}

// older compares versions of one object, which are growing decimal numbers.
func older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// Wait calls check with what is known of a Pod, at each change and from time to time, until check is done or
// ctx ends. A Pod of which no event came for a while is read.
func (p *Pods) Wait(ctx context.Context, name string, check func(Seen) (done bool, err error)) error {
	tick := time.NewTicker(p.timing.Read)
	defer tick.Stop()
	for {
		s, changed := p.Get(name)
		if done, err := check(s); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		case <-tick.C:
			if _, err := p.Read(ctx, name); err != nil && !api.Transient(err) {
				return err
			}
		}
	}
}

// List returns the Pods as the store of the cluster has them now. Follow, which is called later, misses nothing after it.
func (p *Pods) List(ctx context.Context) ([]core.Pod, error) {
	list, err := p.api.ListPods(ctx, p.selector)
	if err != nil {
		return nil, err
	}
	p.list(list.Items)
	p.first = list.ResourceVersion
	return list.Items, nil
}

// Follow watches until ctx ends.
func (p *Pods) Follow(ctx context.Context) {
	go p.followEvents(ctx)
	for ctx.Err() == nil {
		if err := p.follow(ctx); err != nil {
			pause(ctx, p.timing.Pause)
		}
	}
}

// follow lists the Pods, and watches them until the watch ends. A watch that is silent for longer than the
// server was to keep it is given up.
func (p *Pods) follow(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timing.Watch+p.timing.Watch/10)
	defer cancel()
	version := p.first
	if p.first = ""; version == "" {
		p.mu.Lock()
		p.puts = map[string]bool{}
		p.mu.Unlock()
		list, err := p.api.ListPods(ctx, p.selector)
		if err != nil {
			return err
		}
		p.list(list.Items)
		version = list.ResourceVersion
	}
	w, err := p.api.WatchPods(ctx, p.selector, version, p.timing.Watch)
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		pod, is := e.Object.(*core.Pod)
		switch {
		case e.Type == watch.Error:
			return apierrors.FromObject(e.Object) // also 410: the version is too old
		case !is:
			return fmt.Errorf("the watch of Pods reports a %T", e.Object)
		case e.Type != watch.Bookmark:
			p.mu.Lock()
			p.put(pod, e.Type == watch.Deleted)
			p.mu.Unlock()
		}
	}
	return errors.New("the watch has ended")
}

// list notes a complete list: what it lacks is gone.
func (p *Pods) list(items []core.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	there := map[string]bool{}
	for i := range items {
		there[items[i].Name] = true
		p.put(&items[i], false)
	}
	for name, s := range p.seen {
		if s.Pod != nil && !there[name] && !p.puts[name] {
			p.put(s.Pod, true)
		}
	}
}

// followEvents keeps the latest events of each Pod, if the caller may read events.
func (p *Pods) followEvents(ctx context.Context) {
	for ctx.Err() == nil {
		w, err := p.api.WatchEvents(ctx, p.timing.Watch)
		if apierrors.IsForbidden(err) {
			return
		}
		if err == nil {
			for e := range w.ResultChan() {
				if event, is := e.Object.(*core.Event); is && e.Type != watch.Deleted {
					p.event(event)
				}
			}
			w.Stop()
		}
		pause(ctx, p.timing.Pause)
	}
}

// event notes an event about a Pod, which may be seen only later.
func (p *Pods) event(e *core.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seen[e.InvolvedObject.Name]
	switch {
	case s == nil && p.own(e.InvolvedObject.Name) && len(p.seen) < mostSeen:
		s = &Seen{}
	case s == nil, s.Gone, s.Pod != nil && s.Pod.UID != e.InvolvedObject.UID:
		return
	}
	events := append(append([]core.Event(nil), s.Events...), *e)
	p.seen[e.InvolvedObject.Name] = &Seen{Pod: s.Pod, Events: events[max(len(events)-keptEvents, 0):]}
	close(p.changed)
	p.changed = make(chan struct{})
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
