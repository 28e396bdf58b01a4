package shim

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	eventstypes "github.com/containerd/containerd/api/events"
	runc "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task"
	"github.com/containerd/containerd/v2/core/events"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/plugins"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"

	"deployster/internal/base/durable"
)

const (
	// Runtime is the name by which containerd selects these shims.
	Runtime = "io.containerd.runc.v2"

	// Name is the name of their program, which containerd derives from Runtime.
	Name = "containerd-shim-runc-v2"

	// LayoutFlag makes a shim-only program print its Layout.
	LayoutFlag = "-layout"

	// Layout changes with what a shim and a server agree on: the files that an
	// exitRecorder writes. A shim program with another layout is not used.
	Layout = "deployster-shim 1"
)

// Is reports whether a process was started, by its argv[0], as a shim.
func Is(argv0 string) bool { return filepath.Base(argv0) == Name }

// Run is the main function of a shim. It returns only when the container is removed.
func Run() {
	// If the server is linked in too, its plugins are registered. Loading them here would
	// block on the server's own database.
	registry.Reset()
	registry.Register(&plugin.Registration{
		Type:     plugins.TTRPCPlugin,
		ID:       "task",
		Requires: []plugin.Type{plugins.EventPlugin, plugins.InternalPlugin},
		InitFn: func(ic *plugin.InitContext) (any, error) {
			p, err := ic.GetByID(plugins.EventPlugin, "publisher")
			if err != nil {
				return nil, err
			}
			s, err := ic.GetByID(plugins.InternalPlugin, "shutdown")
			if err != nil {
				return nil, err
			}
			return task.NewTaskService(ic.Context, &exitRecorder{Publisher: p.(shim.Publisher), dirs: map[string]string{}},
				s.(shutdown.Service))
		},
	})
	shim.RunShim(context.Background(), manager{runc.NewShimManager(Runtime)})
}

// exitRecorder is between a shim and the server that it reports to. A server that was
// lost does not know, when it is back, the programs that have ended in the meantime; so
// exitRecorder records how a program ended before it reports that.
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
		if dir := w.dirs[e.ContainerID]; dir != "" && e.ID == e.ContainerID {
			err = WriteEnding(dir, Ending{Code: int(e.ExitStatus), At: e.ExitedAt.AsTime()})
		}
	}
	return errors.Join(err, w.Publisher.Publish(ctx, topic, event))
}

// endingFile is a file next to the standard files of a run. It reports how the run ended, for
// other processes if its client is dead, and is written by whichever process knows the
// end first.
const endingFile = "ending"

// Ending is how a program ended by itself.
type Ending struct {
	Code int       `json:"code"`
	At   time.Time `json:"at"`
}

// WriteEnding writes an ending to the directory of a run's standard files. The file is
// not synced: that directory does not survive a restart of the machine.
func WriteEnding(dir string, e Ending) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return durable.WriteUnsynced(filepath.Join(dir, endingFile), content, 0o600)
}

// ReadEnding returns what WriteEnding wrote; ok is false if there is nothing.
func ReadEnding(dir string) (e Ending, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, endingFile))
	return e, err == nil && json.Unmarshal(b, &e) == nil
}
