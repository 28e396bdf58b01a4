package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/containerd/containerd/v2/client"
)

// snapshotters are those that a run can have its files from, the best first.
func snapshotters() []string { return []string{"overlayfs", "native"} }

// snapshotterFile says which snapshotter of a server works, as its clients have
// found out. It goes with the server.
func (c serverConfig) snapshotterFile() string { return filepath.Join(c.runtimeDir, "snapshotter") }

// findSnapshotter finds out which snapshotter to use, and that the server answers.
func (r *Runtime) findSnapshotter(ctx context.Context) (err error) {
	if r.embedded {
		b, _ := os.ReadFile(r.server.snapshotterFile()) // it is not there yet
		if name := string(b); slices.Contains(snapshotters(), name) && r.reconnect(ctx) == nil {
			r.snapshotter = name
			return nil
		}
	}
	if r.snapshotter, err = chooseSnapshotter(r.ctx(ctx), r.client); err == nil && r.embedded {
		r.noteSnapshotter()
	}
	return err
}

// noteSnapshotter keeps for the next command what this one has found out. That it
// fails costs the next one a request.
func (r *Runtime) noteSnapshotter() {
	f, err := os.CreateTemp(r.runtimeDir, ".snapshotter-*")
	if err != nil {
		return
	}
	_, err = f.WriteString(r.snapshotter)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), r.server.snapshotterFile())
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is nobody's
	}
}

// chooseSnapshotter takes overlayfs where it works, and else what works
// everywhere.
func chooseSnapshotter(ctx context.Context, c *client.Client) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := c.IntrospectionService().Plugins(ctx, "type==io.containerd.snapshotter.v1")
	if err != nil {
		return "", err
	}
	works := map[string]bool{}
	for _, p := range list.Plugins {
		works[p.ID] = p.InitErr == nil
	}
	for _, name := range snapshotters() {
		if works[name] {
			return name, nil
		}
	}
	return "", errors.New("neither of its snapshotters overlayfs and native works")
}
