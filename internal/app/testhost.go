package app

import (
	"context"
	"crypto/rand"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
)

// MayHaveMachine returns why an image may not have the whole machine.
func (e *Engine) MayHaveMachine(image string) error {
	if e.options.MayHaveMachine == nil {
		return nil
	}
	return e.options.MayHaveMachine(image)
}

// TestHost connects to a host that the manifests declare, to run actions there that no state
// records. The caller closes the places.
func (e *Engine) TestHost(ctx context.Context, in workspace.Inputs, name string) (*router.Places, *runner.Host, error) {
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range m.Hosts() {
		if h.Name != name {
			continue
		}
		places := machine.Connect(remote.Hello{Lineage: rand.Text(), Epoch: 1, Run: "test"})
		facts, err := places.Reach(ctx, h.Host)
		if err != nil {
			places.Close()
			return nil, nil, err
		}
		on := h.Host
		on.Machine = facts.Machine
		return places, &on, nil
	}
	return nil, nil, diag.Errorf("No such host", "The hosts that the manifests declare: %s.", words.All(hostNames(m)))
}
