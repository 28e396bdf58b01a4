package containerd

import (
	"context"
	"errors"
	"fmt"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs/pkg/errgrpc"

	"deployster/containerd/failure"
	"deployster/containerd/images"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/internal/runner"
)

// newShared makes and starts a container for queries like s, or takes one that an
// earlier command has left. Its first process, the agent, starts the programs.
func (r *Runtime) newShared(ctx context.Context, s runner.Spec, image *images.Prepared) (*sharedContainer, error) {
	file, err := r.agentFile(r.shared.agent)
	if err != nil {
		return nil, err
	}
	spec := runner.Spec{Name: "shared by runs of " + s.Digest, Kind: runner.Query, Digest: s.Digest, Entrypoint: agentPath,
		Args: []string{agentSocket}, Mounts: s.Mounts, Settings: s.Settings}
	w := &sharedContainer{container: &container{r: r, spec: spec, image: image, id: r.conn.NewContainerID()}}
	if w.box, err = r.sandboxes.Make(w.id, image.Program, spec); err != nil {
		return nil, err
	}
	defer w.box.Close()
	w.shows = r.sandboxes.Fingerprint(w.box.Grants)
	if r.poolsShared(s) {
		if idle := w.takeIdle(); idle != nil {
			return idle, nil
		}
		if err := w.lockItself(ctx); err != nil {
			return nil, err
		}
	}
	if w.files, err = runfiles.New(r.conn.Config.RuntimeDir, w.id, runner.Spec{}); err != nil {
		w.releaseLock()
		return nil, err
	}
	if err := w.begin(ctx, file); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

// begin makes the container with its agent, a file of this host, and starts it. When
// it fails there may be a part of it.
func (w *sharedContainer) begin(ctx context.Context, file string) (err error) {
	setup, cancel := w.r.conn.Detached(ctx, setupLimit)
	defer cancel()
	l, path, err := listenAgent(w.files.Dir)
	if err != nil {
		return err
	}
	defer func() { err = failure.Join(err, l.Close()) }()
	spec := w.box.Spec
	spec.Mounts = append(spec.Mounts, w.r.sandboxes.Bind(file, agentPath, false), w.r.sandboxes.Bind(path, agentSocket, false))
	*spec.Linux.Resources.Pids.Limit += agentThreads
	if m := spec.Linux.Resources.Memory; m != nil {
		most := *m.Limit + agentMemory
		m.Limit, m.Swap = &most, &most
	}
	if err := w.create(setup); err != nil {
		return err
	}
	if _, err := w.tasks().Start(setup, &taskapi.StartRequest{ContainerID: w.id}); err != nil {
		return errgrpc.ToNative(err)
	}
	if err := w.acceptAgent(l); err != nil {
		return err
	}
	w.makeBuffers()
	if procs, err := sandbox.Processes(w.id, int(w.pid)); err != nil || len(procs) != 1 {
		return fmt.Errorf("the processes of a container cannot be seen from here: %d (%w)", len(procs), err)
	}
	return nil
}
