package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deployster/internal/runtime/guard"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Guard implements remote.Guarding.
func (m *Machine) Guard(ctx context.Context, h remote.Hello, r remote.GuardRequest) (runner.Settlement, error) {
	g, key := m.o.Guards, r.Group.Key
	var err error
	switch r.Step {
	case remote.GuardArm:
		err = g.Arm(ctx, r.Group, holderOf(h))
	case remote.GuardProtect:
		if r.Protection == nil {
			return runner.Settlement{}, errors.New("the client names no resource to protect")
		}
		err = m.protect(ctx, *r.Protection)
	case remote.GuardConfirm:
		return g.Confirm(key)
	case remote.GuardRevert:
		err = g.Revert(ctx, key)
	case remote.GuardForget:
		return runner.Settlement{}, g.Forget(key)
	}
	if err != nil {
		return runner.Settlement{}, err
	}
	return g.Read(key)
}

func holderOf(h remote.Hello) guard.Holder {
	return guard.Holder{Lineage: h.Lineage, Epoch: h.Epoch, Run: h.Run, Process: h.Process}
}

// protect has a type save what the undo of a resource needs, and then adds the resource to its group.
func (m *Machine) protect(ctx context.Context, p runner.Protection) error {
	if err := m.o.Guards.Directory(p.Key, p.Address); err != nil {
		return err
	}
	p.Save.Mounts = guard.Mounts(p.Save)
	res, err := m.Run(ctx, p.Save)
	switch {
	case err != nil:
		return fmt.Errorf("what the undo needs cannot be saved: %w", err)
	case res.ExitCode != 0:
		said := strings.TrimSpace(string(res.Stderr))
		return fmt.Errorf("what the undo needs cannot be saved: exit %d: %s", res.ExitCode, said[strings.LastIndexByte(said, '\n')+1:])
	}
	if p.Undo, err = m.mounted(p.Undo); err != nil {
		return err
	}
	return m.o.Guards.Protect(ctx, p)
}

// runGuarded carries out an action of a group between two notes in the record of the group.
func (m *Machine) runGuarded(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Timeout == 0 {
		s.Timeout = guard.Limit
	}
	address := s.Name[:max(0, strings.LastIndexByte(s.Name, '/'))] // names of actions have no slash
	if err := m.o.Guards.Begin(ctx, s.Guard, s.ID, address, s.Timeout); err != nil {
		return runner.Result{}, err
	}
	s.Worker, s.Batch = nil, nil // the process of the group can end a container of its own
	// Without this note the process of the group finds out that the action does not run any more.
	ended := func() { _ = m.o.Guards.End(context.WithoutCancel(ctx), s.Guard, s.ID) }
	if report := s.Ended; report != nil {
		s.Ended = func(res runner.Result, err error) error {
			ended() // the report waits for the client, which may be cut off
			return report(res, err)
		}
	}
	res, err := m.Runner.Run(ctx, s)
	ended()
	return res, err
}

// pending returns the resources of groups that are not settled.
func (m *Machine) pending() (list []string, err error) {
	groups, err := m.o.Guards.Pending()
	for _, g := range groups {
		list = append(list, g.Resources...)
	}
	return list, err
}
