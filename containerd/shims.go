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
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"golang.org/x/sys/unix"

	"deployster/containerd/shim"
)

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
		if err != nil || args[0] != filepath.Join(c.bin(), shim.Name) {
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
	for _, s := range shims(c) { // a number of one that has ended meanwhile may be somebody else's
		if slices.Contains(before, s) && !slices.ContainsFunc(resp.Tasks, func(p *tasktypes.Process) bool { return p.ID == s.container }) {
			_ = unix.Kill(s.pid, unix.SIGKILL) // it may have ended by itself
		}
	}
	return nil
}
