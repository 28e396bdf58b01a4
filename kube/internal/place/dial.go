package place

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/pods"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
)

// endedError reports that a Pod runs nothing any more, so that its agent is not dialled again.
type endedError struct{ text string }

func (e *endedError) Error() string { return e.text }

// As makes it a *remote.RefusedError, after which the router does not try again.
func (e *endedError) As(target any) bool {
	refused, is := target.(**remote.RefusedError)
	if is {
		*refused = &remote.RefusedError{Reason: e.text}
	}
	return is
}

// refusal returns why an agent refuses this client, if it does: a later client has taken over. An agent of
// another version does not refuse it; it only cannot be understood.
func refusal(err error) (error, bool) {
	var ended *endedError
	var refused *remote.RefusedError
	if errors.As(err, &ended) || !errors.As(err, &refused) || strings.HasPrefix(refused.Reason, "the program there is of the build") {
		return nil, false
	}
	return refused, true
}

// ended returns an error if a Pod runs nothing any more.
func ended(s pods.Seen, name string) error {
	switch {
	case s.Pod == nil && !s.Gone:
		return nil
	case s.Pod == nil || s.Gone && !podstatus.EndOf(s.Pod).Over:
		return &endedError{"the Pod " + name + " does not exist any more"}
	case podstatus.EndOf(s.Pod).Over:
		return &endedError{"the Pod " + name + " " + podstatus.EndOf(s.Pod).Why}
	}
	return nil
}

// dialAgain is how long one dial of the router tries: a container may not be found just after it was started.
const dialAgain = 10 * time.Second

// dial connects to the agent of a Pod.
func (p *Place) dial(ctx context.Context, h runner.Host) (*remote.Client, error) {
	hello := p.hello
	hello.Build, hello.Open = remote.AgentVersion, nil
	limit := time.Now().Add(min(dialAgain, p.o.Timing.Patience))
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		seen, changed := p.pods.Get(h.Name)
		if err := ended(seen, h.Name); err != nil {
			return nil, err
		}
		stream, err := p.o.API.Exec(p.ctx, h.Name, podspec.Container, podspec.Program, "talk")
		if err != nil {
			return nil, err
		}
		client, err := remote.NewClient(ctx, stream, hello, p.o.Timing.Agent)
		var refused *remote.RefusedError
		switch {
		case err == nil:
			return client, nil
		case errors.As(err, &refused), ctx.Err() != nil, time.Now().After(limit):
			return nil, err
		case apierrors.IsForbidden(err):
			return nil, fmt.Errorf("programs may not be started in Pods (pods/exec: create and get): %w", err)
		case apierrors.IsNotFound(err):
			_, _ = p.pods.Read(ctx, h.Name) // the next query finds whether it exists
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-changed:
		case <-time.After(pause):
		}
	}
}
