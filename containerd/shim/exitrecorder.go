package shim

import (
	"context"
	"errors"
	"path/filepath"

	eventstypes "github.com/containerd/containerd/api/events"
	"github.com/containerd/containerd/v2/core/events"
	"github.com/containerd/containerd/v2/pkg/shim"
)

// exitRecorder is between a shim and the server that it reports to. A server that was
// lost forgets, when it is back, the programs that have ended meanwhile; so how a
// program ended is written down before it is told.
type exitRecorder struct {
	shim.Publisher
	dirs map[string]string // of the standard files, by container; the shim publishes from one goroutine
}

// Publish implements shim.Publisher.
func (w *exitRecorder) Publish(ctx context.Context, topic string, event events.Event) error {
	var err error
	switch e := event.(type) {
	case *eventstypes.TaskCreate:
		if out := e.GetIO().GetStdout(); filepath.IsAbs(out) {
			w.dirs[e.ContainerID] = filepath.Dir(out)
		}
	case *eventstypes.TaskExit:
		// What runs in a container that is shared has its files beside those of
		// the container.
		if dir := w.dirs[e.ContainerID]; dir != "" {
			if e.ID != e.ContainerID {
				dir = filepath.Join(filepath.Dir(dir), e.ID)
			}
			err = WriteEnding(dir, Ending{Code: int(e.ExitStatus), At: e.ExitedAt.AsTime()})
		}
	}
	return errors.Join(err, w.Publisher.Publish(ctx, topic, event))
}
