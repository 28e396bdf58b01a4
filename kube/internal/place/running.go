package place

import (
	"cmp"
	"context"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/pods"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
	"deployster/kube/internal/pool"
)

// usual returns a reason for which each Pod waits, once it has lasted unusually long.
func (p *Place) usual(since time.Time, why string) string {
	if time.Since(since) < p.o.Timing.Usual {
		return ""
	}
	return why
}

// containerIs is how far a container has to be; the zero value: the container of the type runs.
type containerIs struct {
	name string
	is   func(p *core.Pod, name string) bool
}

// running waits until a Pod runs, and sends it the files that it needs before.
func (p *Place) running(ctx context.Context, m *pool.Member, o podspec.Order) error {
	limit := podspec.StartTimeout(p.o.Cluster)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start, last, begun := podstatus.Start{}, "", time.Now()
	wait := func(far containerIs) error {
		return p.pods.Wait(within, o.Name, func(s pods.Seen) (bool, error) {
			if s.Pod == nil {
				return false, nil
			}
			if s.Gone {
				return false, &runner.StartError{Fault: runner.NotStarted, Text: o.Name + " was deleted before it ran"}
			}
			runs, why, err := start.Waits(s.Pod, s.Events, time.Now())
			last = cmp.Or(why.Text, last)
			m.Say(func() string {
				if why.Usual {
					return p.usual(begun, why.Text)
				}
				return why.Text
			})
			if err == nil && why.Taken && p.pool.Used() > 1 { // a Pod of this command may have the claim: fewer at a time
				err = &quotaError{why.Text}
			}
			return runs || far.is != nil && far.is(s.Pod, far.name), err
		})
	}
	say := func(why string) {
		last = why
		m.Say(func() string { return why })
	}
	err := p.give(within, o, say, wait)
	if err == nil {
		err = wait(containerIs{})
	}
	if within.Err() != nil && ctx.Err() == nil {
		return late(cmp.Or(last, "it has reported nothing"), limit)
	}
	return err
}

// late returns the error for a Pod that did not run in time.
func late(why string, limit time.Duration) error {
	return &runner.StartError{Fault: runner.NotStarted, Text: fmt.Sprintf("%s (%s)", why, limit)}
}
