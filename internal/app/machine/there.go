package machine

import (
	"context"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
)

// there is a Runtime whose images are here and run on a host.
type there struct {
	Runtime
	at   *router.Places
	host runner.Host
}

// There returns a runtime whose images run on a host, which is greeted with an identity. No other machine may answer there
// later.
func (m *Machine) There(ctx context.Context, h runner.Host, as remote.Hello) (Runtime, error) {
	at := m.Connect(as, nil)
	m.others = append(m.others, at)
	facts, err := at.Reach(ctx, h)
	if err != nil {
		return nil, err
	}
	h.Machine = facts.Machine
	return there{m.Runtime, at, h}, nil
}

// Run implements runner.Runner. Each run has a container of its own, like those of a Runtime on this machine.
func (t there) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Settings.Host, s.Worker, s.Batch = &t.host, nil, nil
	return t.at.Run(ctx, s)
}

// Launch implements runner.Launcher.
func (t there) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	s.Settings.Host = &t.host
	return t.at.Launch(ctx, s)
}

// InitOn returns the same machine, whose clients run the init of images on a host.
func (m *Machine) InitOn(h runner.Host) *Machine {
	child := *m
	child.initAt = &h
	return &child
}
