package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"

	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/internal/runner"
)

// Sweeper removes what dead clients of a runtime directory have left.
type Sweeper struct {
	Client     *client.Client
	Namespace  string
	RuntimeDir string
	Embedded   bool              // the shims are ours
	Outcomes   runfiles.Outcomes // of the actions that it removes
}

// Sweep removes what belongs to dead clients: their queries are ended, and
// workers that carry out no action, their
// actions are left to end by themselves first, and how they ended is kept for
// whoever adopts them. Unless all is true it looks
// only when there are dead clients by their files; all also finds those whose
// files are gone, as after a reboot.
func (w Sweeper) Sweep(ctx context.Context, all bool) error {
	dead := map[string]bool{}
	for _, id := range layout.Clients(w.RuntimeDir) {
		if !layout.IsAlive(w.RuntimeDir, id) {
			dead[id] = true
		}
	}
	if len(dead) == 0 && !all {
		return nil
	}
	ctx = namespaces.WithNamespace(ctx, w.Namespace)
	list, err := w.Client.ContainerService().List(ctx, `labels."`+layout.LabelClient+`"`)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		dir, id := filepath.Split(c.Labels[layout.LabelClient])
		if filepath.Clean(dir) != layout.ClientsDir(w.RuntimeDir) {
			continue
		}
		if _, known := dead[id]; !known {
			// Whoever died after the clients were looked at may have begun more
			// than the list has: he is for the next sweep.
			if layout.Exists(filepath.Join(layout.ClientsDir(w.RuntimeDir), id)) {
				continue
			}
			dead[id] = true
		}
		gone, err := true, error(nil)
		worker := c.Labels[layout.LabelWorker] != ""
		if worker || runner.Kind(c.Labels[layout.LabelKind]) == runner.Action {
			gone, err = w.Collect(ctx, c)
		} else {
			err = RemoveContainer(ctx, w.Client, c)
		}
		if !gone {
			runfiles.TrimAbandoned(w.FilesDir(c), !worker) // what a worker says is read
		}
		if !gone || err != nil {
			errs = append(errs, err)
			dead[id] = false // his file stays for the next sweep
		}
	}
	if all {
		errs = append(errs, w.Outcomes.Prune())
	}
	errs = append(errs, w.removeLeases(ctx, func(id string) bool { return !layout.IsAlive(w.RuntimeDir, id) }))
	for id, gone := range dead {
		if !gone {
			continue
		}
		err := w.removeOrphans(id)
		if errs = append(errs, err); err == nil {
			errs = append(errs, os.RemoveAll(filepath.Join(w.RuntimeDir, "io", id)), os.RemoveAll(filepath.Join(layout.ClientsDir(w.RuntimeDir),
				id)))
		}
	}
	return errors.Join(errs...)
}

// RemoveAll removes everything of all clients, alive or dead.
func (w Sweeper) RemoveAll(ctx context.Context) error {
	ctx = namespaces.WithNamespace(ctx, w.Namespace)
	list, err := w.Client.ContainerService().List(ctx, `labels."`+layout.LabelClient+`"`)
	if err != nil {
		return err
	}
	errs := []error{w.removeLeases(ctx, func(string) bool { return true })}
	for _, c := range list {
		errs = append(errs, RemoveContainer(ctx, w.Client, c))
	}
	return errors.Join(errs...)
}

func (w Sweeper) removeLeases(ctx context.Context, gone func(id string) bool) error {
	service := w.Client.LeasesService()
	list, err := service.List(ctx, `labels."`+layout.LabelClient+`"`)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range list {
		dir, id := filepath.Split(l.Labels[layout.LabelClient])
		if filepath.Clean(dir) == layout.ClientsDir(w.RuntimeDir) && gone(id) {
			if err := service.Delete(ctx, l); !errdefs.IsNotFound(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
