package daemon

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/containerd/containerd/v2/client"

	"deployster/containerd/failure"
	"deployster/internal/base/durable"
)

// snapshotters are those that a run can have its files from, the best first.
func snapshotters() []string { return []string{"overlayfs", "native"} }

// findSnapshotter finds out which snapshotter to use, and that the server answers.
func (c *Conn) findSnapshotter(ctx context.Context) (err error) {
	if c.Embedded {
		b, _ := os.ReadFile(c.Config.SnapshotterFile()) // it is not there yet
		if name := string(b); slices.Contains(snapshotters(), name) && c.reconnect(ctx) == nil {
			c.Snapshotter = name
			return nil
		}
	}
	if c.Snapshotter, err = chooseSnapshotter(c.Context(ctx), c.Client); err == nil && c.Embedded {
		// For the next command. That it fails costs that one a request.
		_ = durable.WriteUnsynced(c.Config.SnapshotterFile(), []byte(c.Snapshotter), 0o600)
	}
	return err
}

// SnapshotterCapabilities returns what the snapshotter can do.
func (c *Conn) SnapshotterCapabilities() ([]string, error) {
	ctx, cancel := c.Detached(context.Background(), time.Minute)
	defer cancel()
	list, err := c.Client.GetSnapshotterCapabilities(ctx, c.Snapshotter)
	return list, failure.Of("Asking what the snapshotter can do", err)
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
