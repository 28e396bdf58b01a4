package server

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

	"deployster/containerd/daemon"
	"deployster/containerd/layout"
	"deployster/containerd/shim"
)

// ShimProcess is a running shim.
type ShimProcess struct {
	Pid       int
	Container string
}

// Shims lists the shims of a server, and of those that had its place before.
func Shims(c layout.Config) (list []ShimProcess) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		args := strings.Split(string(line), "\x00")
		if err != nil || args[0] != filepath.Join(c.Bin(), shim.Name) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for i := range args[:len(args)-1] {
			if args[i] == "-id" && err == nil {
				list = append(list, ShimProcess{pid, args[i+1]})
			}
		}
	}
	return list
}

// ReapShims ends the shims, of those that were there before this server, that it
// has found no task of: the server before it was killed while it started them,
// and nobody will ever ask them for anything.
func ReapShims(ctx context.Context, c layout.Config, before []ShimProcess) error {
	if len(before) == 0 {
		return nil
	}
	client, err := daemon.Dial(c.Socket(), c.Namespace)
	if err != nil {
		return err
	}
	defer client.Close()
	resp, err := client.TaskService().List(namespaces.WithNamespace(ctx, c.Namespace), &taskapi.ListTasksRequest{})
	if err != nil {
		return err
	}
	for _, s := range Shims(c) { // a number of one that has ended meanwhile may be somebody else's
		if slices.Contains(before, s) && !slices.ContainsFunc(resp.Tasks, func(p *tasktypes.Process) bool { return p.ID == s.Container }) {
			_ = unix.Kill(s.Pid, unix.SIGKILL) // it may have ended by itself
		}
	}
	return nil
}
