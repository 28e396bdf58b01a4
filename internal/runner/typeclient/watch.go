package typeclient

import (
	"context"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/protocol"
)

// StepWatch is the step of a program that tells of changes.
const StepWatch = "watch"

// WatchSpec says how a resource is watched: the program, its plugs, all read-only,
// and the line that it is given. Worker is set when a worker can be asked in
// place of a program of its own.
func (c *Client) WatchSpec(ctx context.Context, t Target, ty protocol.Type, in protocol.StateInput) (runner.Spec, error) {
	k := call{target: t, step: StepWatch}
	if in.Intent == "" {
		in.Intent = protocol.Present
	}
	in.InitInput = c.initInput(t)
	in.After, in.Refresh, in.Changed, in.Dependencies = nil, false, nil, nil
	plain := ty
	plain.Dependencies = false
	stdin, err := encodeState(plain, in)
	if err != nil {
		return runner.Spec{}, fail(k, err, "Cannot ask the image", "%s", diag.Visible(err.Error()))
	}
	s := runner.Spec{Name: t.Address + "/" + StepWatch, Kind: runner.Query, Entrypoint: ty.WatchAction.Entrypoint, Args: ty.WatchAction.Args,
		Stdin: stdin, Mounts: slices.Clone(runner.MountsIn(c.root, t.Mounts)), Settings: t.Settings, KeepLog: t.Settings.KeepLog}
	for i := range s.Mounts {
		s.Mounts[i].Writable = false
	}
	if s.Digest, err = c.digestFor(ctx, t, ty, StepWatch, *ty.WatchAction); err != nil {
		return runner.Spec{}, err
	}
	s.Worker, err = c.workerFor(ctx, t, ty, StepWatch, *ty.WatchAction, s.Digest)
	return s, err
}
