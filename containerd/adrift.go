package containerd

import (
	"context"
	"path/filepath"
	"slices"

	"deployster/internal/invoke"
)

// Adrift names the actions that still run though the client that started them
// is dead: the Spec.Name of each, sorted. Whoever means to do the same again
// has to wait for their end.
func (r *Runtime) Adrift(ctx context.Context) ([]string, error) {
	ctx = r.ctx(ctx)
	list, err := r.client.ContainerService().List(ctx, `labels."`+labelClient+`"`)
	if err != nil {
		return nil, r.failure("Looking for actions that still run", err)
	}
	sweep := r.sweeper()
	var names []string
	for _, c := range list {
		dir, id := filepath.Split(c.Labels[labelClient])
		if filepath.Clean(dir) != clientsDir(r.runtimeDir) || alive(r.runtimeDir, id) {
			continue
		}
		if invoke.Kind(c.Labels[labelKind]) == invoke.Action && sweep.running(ctx, c.ID) {
			names = append(names, c.Labels[labelName])
		}
	}
	slices.Sort(names)
	return names, nil
}
