// Package shim is the process that looks after one container. It stands by
// itself because two of these are started for every container, and whatever is
// linked into its program is made ready at each start.
package shim

import (
	"context"
	"path/filepath"

	runc "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/plugins"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"
)

const (
	// Runtime is the name by which containerd knows these shims.
	Runtime = "io.containerd.runc.v2"

	// Name is the name of their program, which is what containerd makes of Runtime.
	Name = "containerd-shim-runc-v2"

	// LayoutFlag makes a program that is only the shim say its Layout.
	LayoutFlag = "-layout"

	// Layout changes with what a shim and a server know of each other: the
	// files that an exitRecorder writes. One of another layout is not used.
	Layout = "deployster-shim 1"
)

// Is reports whether a process was started, by its argv[0], as a shim.
func Is(argv0 string) bool { return filepath.Base(argv0) == Name }

// Run is the main function of a shim. It does not return before the container is
// gone.
func Run() {
	// Where the server is linked in too, its plugins are registered. Loading them
	// here would hang on the server's own database.
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
			return task.NewTaskService(ic.Context, &exitRecorder{Publisher: p.(shim.Publisher), dirs: map[string]string{}}, s.(shutdown.Service))
		},
	})
	shim.RunShim(context.Background(), runc.NewShimManager(Runtime))
}
