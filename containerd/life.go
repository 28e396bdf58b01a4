package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd/server"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/log"
	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

const (
	lifeTick   = time.Second // how often a server looks after its clients
	endSoon    = time.Second // how long an idle worker may take to end when its server is asked to
	closeLimit = time.Minute // how long a server may take to clean up at its end
)

// life is a server from ready to gone.
type life struct {
	config serverConfig
	server *server.Server
	owned  *os.File // the lock on the data directory
	keeper *keeper
}

// live sweeps after dead clients, until nobody needs the server any more.
func (l *life) live(ctx context.Context) error {
	defer l.server.Stop()
	c, err := dial(l.config.socket(), l.config.namespace)
	if err != nil {
		return err
	}
	defer c.Close()
	sweep := sweeper{client: c, namespace: l.config.namespace, runtimeDir: l.config.runtimeDir, embedded: true, outcomes: l.config.outcomes()}
	if l.keeper, err = keepWorkers(l.config, sweep); err != nil {
		return err
	}
	defer l.keeper.close(endSoon) // where there was time they have ended before
	if err := sweep.sweep(ctx, true); err != nil {
		log.L.WithError(err).Warn("sweeping at the start")
	}
	used := time.Now()
	tick := time.NewTicker(lifeTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			// Asked to go. What runs goes on, and is the next server's.
			return nil
		case <-tick.C:
		}
		if !stillThere(l.owned) {
			return l.abandon(sweep)
		}
		if err := sweep.sweep(ctx, false); err != nil {
			log.L.WithError(err).Warn("sweeping")
		}
		// A client's file stays as long as anything of it runs. The workers that
		// nobody uses are no reason to stay.
		if len(l.keeper.others()) > 0 {
			used = time.Now()
		} else if time.Since(used) >= l.config.idleExit {
			if done, err := l.leave(sweep); done {
				return err
			}
		}
	}
}

// leave ends an idle server, unless someone is just coming. The gate stays
// locked until all is gone, so that whoever waits at it finds nothing half alive.
func (l *life) leave(sweep sweeper) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	gate, err := openLock(filepath.Join(l.config.runtimeDir, gateName), os.O_CREATE)
	if err != nil {
		return false, err
	}
	defer gate.Close() // a file that nobody will use any more may lose its lock at once
	if ok, err := tryLock(gate); err != nil || !ok || len(l.keeper.others()) > 0 {
		return false, err
	}
	return true, l.clear(ctx, sweep)
}

// abandon ends a server whose data directory was removed or replaced: all that
// it could still do is harm. Whoever comes waits at the gate, as when it leaves.
func (l *life) abandon(sweep sweeper) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	gate, err := lockGate(ctx, l.config.runtimeDir)
	if err != nil {
		return err
	}
	defer gate.Close()
	return l.clear(ctx, sweep)
}

// clear removes what a server has made outside its data directory. The gate is
// locked.
func (l *life) clear(ctx context.Context, sweep sweeper) error {
	l.keeper.close(closeLimit / 2)
	err := sweep.removeAll(ctx)
	l.server.Stop()
	return errors.Join(err,
		unmountBelow(l.config.dataDir),
		unmountBelow(l.config.runtimeDir),
		removeRuntimeDir(l.config.runtimeDir))
}

// removeRuntimeDir removes a runtime directory whose gate is locked. The gate goes
// when all else is gone: from then on there may be another one, with all that is
// behind it, and that must stay.
func removeRuntimeDir(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		if e.Name() != gateName {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, gateName)); err != nil {
		return err
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOTEMPTY) { // somebody has come
		return &os.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// unmountBelow unmounts everything below a directory, also one that was
// deleted, and which the kernel therefore lists by another name.
func unmountBelow(dir string) error {
	mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		return !strings.HasPrefix(m.Mountpoint, dir+"/"), false
	})
	if err != nil {
		return err
	}
	var errs []error
	for i := len(mounts) - 1; i >= 0; i-- { // the newest, which may lie in another, first
		point := strings.TrimSuffix(mounts[i].Mountpoint, "//deleted")
		if err := mount.UnmountAll(point, 0); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
