package containerd

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd/server"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/log"
	"github.com/moby/sys/mountinfo"
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
// locked until the process is gone, so that whoever waits at it finds nothing
// half alive.
func (l *life) leave(sweep sweeper) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	gate, err := openLock(l.config.runtimeDir+"/gate", os.O_CREATE)
	if err != nil {
		return false, err
	}
	if ok, err := tryLock(gate); err != nil || !ok || len(l.keeper.others()) > 0 {
		return false, errors.Join(err, gate.Close())
	}
	return true, l.clear(ctx, sweep)
}

// abandon ends a server whose data directory was removed or replaced: all that
// it could still do is harm.
func (l *life) abandon(sweep sweeper) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return l.clear(ctx, sweep)
}

// clear removes what a server has made outside its data directory.
func (l *life) clear(ctx context.Context, sweep sweeper) error {
	l.keeper.close(closeLimit / 2)
	err := sweep.removeAll(ctx)
	l.server.Stop()
	return errors.Join(err,
		unmountBelow(l.config.dataDir),
		unmountBelow(l.config.runtimeDir),
		os.RemoveAll(l.config.runtimeDir))
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
