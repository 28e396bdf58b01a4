package shim

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/runc"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/shim"
	"golang.org/x/sys/unix"
)

// manager starts shims, and cleans up after them.
type manager struct{ shim.Shim }

// Stop implements shim.Shim. A server calls it whenever its connection to a shim has
// ended, and waits for it: after a crash, when there is much to clean up, but also after
// each container that was deleted normally. In that case Stop does not start runc once
// more, which has done its work before.
func (m manager) Stop(ctx context.Context, id string) (shim.StopStatus, error) {
	bundle, err := os.Getwd()
	if err != nil {
		return shim.StopStatus{}, err
	}
	bundle = filepath.Join(filepath.Dir(bundle), id)
	if !deleted(ctx, bundle, id) {
		return m.Shim.Stop(ctx, id)
	}
	return shim.StopStatus{ExitedAt: time.Now(), ExitStatus: 128 + int(unix.SIGKILL)}, mount.UnmountRecursive(filepath.Join(bundle,
		"rootfs"), 0)
}

// deleted reports whether runc has no container with this id: the container's directory
// is what runc creates first and removes last. In doubt it returns false.
func deleted(ctx context.Context, bundle, id string) bool {
	namespace, err := namespaces.NamespaceRequired(ctx)
	if err != nil {
		return false
	}
	opts, err := runc.ReadOptions(bundle)
	if err != nil || opts == nil || opts.Root == "" {
		return false
	}
	_, err = os.Lstat(filepath.Join(opts.Root, namespace, id))
	return errors.Is(err, os.ErrNotExist)
}
