package containerd

import (
	"context"
	"errors"
	"fmt"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs/pkg/errgrpc"

	"deployster/internal/runner"
)

// newWarm makes and starts a container for queries like s, whose first process, the
// agent, starts the programs.
func (r *Runtime) newWarm(ctx context.Context, s runner.Spec, image *prepared) (*warm, error) {
	file, err := r.agentFile(r.reuse.agent)
	if err != nil {
		return nil, err
	}
	s.Entrypoint, s.Args = agentPath, []string{agentSocket}
	w, err := r.boxedWarm(s, image)
	if err != nil {
		return nil, err
	}
	defer w.box.close()
	if r.keepsShared(s) {
		if kept := w.kept(); kept != nil {
			return kept, nil
		}
		if err := w.ownItself(ctx); err != nil {
			return nil, err
		}
	}
	return w.startWith(ctx, func() (begun func() error, err error) {
		l, path, err := listenAgent(w.io.dir)
		if err != nil {
			return nil, err
		}
		spec := w.box.spec
		spec.Mounts = append(spec.Mounts, r.host.bind(file, agentPath, false), r.host.bind(path, agentSocket, false))
		*spec.Linux.Resources.Pids.Limit += agentThreads
		if m := spec.Linux.Resources.Memory; m != nil {
			most := *m.Limit + agentMemory
			m.Limit, m.Swap = &most, &most
		}
		w.makeBuffers()
		return func() error { return errors.Join(w.acceptAgent(l), l.Close()) }, nil
	})
}

// boxedWarm says how a container for queries is made. What is open for that is to
// be closed when it has started.
func (r *Runtime) boxedWarm(s runner.Spec, image *prepared) (w *warm, err error) {
	s = runner.Spec{Name: "shared by runs of " + s.Digest, Kind: runner.Query, Digest: s.Digest, Entrypoint: s.Entrypoint, Args: s.Args, Mounts: s.Mounts, Settings: s.Settings}
	w = &warm{run: &run{r: r, s: s, image: image, id: r.newContainerID()}}
	if w.box, err = r.sandbox(w.id, image, s); err != nil {
		return nil, err
	}
	w.fit = r.fingerprint(w.box.grants)
	return w, nil
}

// startWith makes and starts the container; when it cannot, nothing is left of it.
// What its first process needs is added before it is made, and what that gives is
// called when it has started or has failed to.
func (w *warm) startWith(ctx context.Context, add func() (begun func() error, err error)) (_ *warm, err error) {
	setup, cancel := w.r.detached(ctx, setupLimit)
	defer cancel()
	if w.io, err = w.r.newStdio(w.id, runner.Spec{}); err != nil {
		w.disown()
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.end())
		}
	}()
	begun, err := add()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.start(setup), begun()); err != nil {
		return nil, err
	}
	if procs, err := w.processes(); err != nil || len(procs) != 1 {
		return nil, fmt.Errorf("the processes of a container cannot be seen from here: %d (%w)", len(procs), err)
	}
	return w, nil
}

// start makes the container, and starts its first process.
func (w *warm) start(ctx context.Context) (err error) {
	if w.rootfs, err = w.create(ctx); err != nil {
		return err
	}
	if err := w.createTask(ctx, w.rootfs); err != nil {
		return err
	}
	_, err = w.tasks().Start(ctx, &taskapi.StartRequest{ContainerID: w.id})
	return errgrpc.ToNative(err)
}
