package machine

import (
	"context"

	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
)

// there is a Runtime whose images are here and run on a host.
type there struct {
	Runtime
	at   *router.Places
	host runner.Host
}

// There returns a runtime whose images run on a host.
func (m *Machine) There(h runner.Host) Runtime { return there{m.Runtime, m.Places, h} }

// Run implements runner.Runner.
func (t there) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Settings.Host = &t.host
	return t.at.Run(ctx, s)
}

// Launch implements runner.Launcher.
func (t there) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	s.Settings.Host = &t.host
	return t.at.Launch(ctx, s)
}

// AskingOn returns the same machine, whose clients run the init of images on a host.
func (m *Machine) AskingOn(h runner.Host) *Machine {
	child := *m
	child.asks = &h
	return &child
}
