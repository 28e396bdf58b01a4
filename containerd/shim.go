package containerd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/plugins"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"
	"golang.org/x/sys/unix"
)

const (
	runtimeName = "io.containerd.runc.v2"
	shimName    = "containerd-shim-runc-v2" // what containerd makes of runtimeName
)

// IsShim says whether this process was started, by its argv[0], as the process
// that looks after one container.
func IsShim(argv0 string) bool { return filepath.Base(argv0) == shimName }

// RunShim is the main function of such a process. It does not return before
// the container is gone.
func RunShim() {
	// The server's plugins are linked in and registered too. Loading them here
	// would hang on the server's own database.
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
			return task.NewTaskService(ic.Context, &witness{Publisher: p.(shim.Publisher), dirs: map[string]string{}}, s.(shutdown.Service))
		},
	})
	shim.RunShim(context.Background(), manager.NewShimManager(runtimeName))
}

// shimProcess is a running shim.
type shimProcess struct {
	pid       int
	container string
}

// shims lists the shims of a server, and of those that had its place before.
func shims(c serverConfig) (list []shimProcess) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		args := strings.Split(string(line), "\x00")
		if err != nil || args[0] != filepath.Join(c.bin(), shimName) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for i := range args[:len(args)-1] {
			if args[i] == "-id" && err == nil {
				list = append(list, shimProcess{pid, args[i+1]})
			}
		}
	}
	return list
}

// reapShims ends the shims, of those that were there before this server, that it
// has found no task of: the server before it was killed while it started them,
// and nobody will ever ask them for anything.
func reapShims(ctx context.Context, c serverConfig, before []shimProcess) error {
	if len(before) == 0 {
		return nil
	}
	client, err := dial(c.socket(), c.namespace)
	if err != nil {
		return err
	}
	defer client.Close()
	resp, err := client.TaskService().List(namespaces.WithNamespace(ctx, c.namespace), &taskapi.ListTasksRequest{})
	if err != nil {
		return err
	}
	for _, s := range before {
		if !slices.ContainsFunc(resp.Tasks, func(p *tasktypes.Process) bool { return p.ID == s.container }) {
			_ = unix.Kill(s.pid, unix.SIGKILL) // it may have ended by itself
		}
	}
	return nil
}
