package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd/server"
	"github.com/containerd/log"
	"golang.org/x/sys/unix"

	"deployster/containerd/daemon"
	"deployster/containerd/idlepool"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sweep"
	"deployster/containerd/volumes"
)

const (
	sweepEvery   = time.Second      // how often a server sweeps after its clients
	socketsEvery = 10 * time.Second // how often it removes sockets that killed shims of living clients have left
	endSoon      = time.Second      // how long an idle worker may take to end when its server ends
	closeLimit   = time.Minute      // how long a server may take to clean up at its end
)

// instance is a server from ready to its end.
type instance struct {
	config   layout.Config
	server   *server.Server
	dataLock *os.File // the lock on the data directory
	pool     *idlepool.Server
}

// serve sweeps after dead clients, until no client needs the server any more.
func (l *instance) serve(ctx context.Context) error {
	defer l.server.Stop()
	c, err := daemon.Dial(l.config.Socket(), l.config.Namespace)
	if err != nil {
		return err
	}
	defer c.Close()
	sweeper := sweep.Sweeper{Client: c, Namespace: l.config.Namespace, RuntimeDir: l.config.RuntimeDir, Embedded: true,
		Outcomes: runfiles.Outcomes(l.config.Outcomes()), Volumes: volumes.Root(l.config)}
	if l.pool, err = idlepool.NewServer(l.config, sweeper); err != nil {
		return err
	}
	defer l.pool.Close(endSoon) // usually the workers have ended before
	if err := sweeper.Sweep(ctx, true); err != nil {
		log.L.WithError(err).Warn("cleaning up at the start")
	}
	debug.FreeOSMemory() // starting takes 17 MiB that are never needed again, on each of many hosts
	used, looked := time.Now(), time.Now()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			// The server must end. The next server takes over what runs; if nothing runs, nothing is left behind.
			l.pool.Close(endSoon)
			_, err := l.leaveIfIdle(sweeper)
			return err
		case <-tick.C:
		}
		if !layout.InPlace(l.dataLock) {
			return l.abandon(sweeper)
		}
		if err := sweeper.Sweep(ctx, false); err != nil {
			log.L.WithError(err).Warn("sweeping")
		}
		if time.Since(looked) >= socketsEvery {
			looked = time.Now()
			if err := sweeper.RemoveSockets(); err != nil {
				log.L.WithError(err).Warn("removing sockets of killed shims")
			}
		}
		if err := boundLog(l.config.LogFile()); err != nil {
			log.L.WithError(err).Warn("starting a new log")
		}
		// A client's file remains as long as any of its containers runs. Idle workers do
		// not keep the server running.
		if len(l.pool.Others()) > 0 {
			used = time.Now()
		} else if time.Since(used) >= l.config.IdleExit {
			if done, err := l.leaveIfIdle(sweeper); done {
				return err
			}
		}
	}
}

// leaveIfIdle ends an idle server, unless a client is just attaching. The gate stays locked
// until everything is removed, so that a client that waits at it finds nothing half removed.
func (l *instance) leaveIfIdle(sweeper sweep.Sweeper) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	gate, err := layout.OpenLock(filepath.Join(l.config.RuntimeDir, layout.GateName), os.O_CREATE)
	if err != nil {
		return false, err
	}
	defer gate.Close() // a removed gate may lose its lock at once
	if ok, err := layout.TryLock(gate); err != nil || !ok || len(l.pool.Others()) > 0 {
		return false, err
	}
	return true, l.cleanUp(ctx, sweeper)
}

// abandon ends a server whose data directory was removed or replaced: it could only do
// harm now. New clients wait at the gate, as in leaveIfIdle.
func (l *instance) abandon(sweeper sweep.Sweeper) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	gate, err := layout.LockGate(ctx, l.config.RuntimeDir)
	if err != nil {
		return err
	}
	defer gate.Close()
	return errors.Join(sweeper.EndAll(ctx), l.cleanUp(ctx, sweeper))
}

// cleanUp removes what a server has created outside its data directory. The gate is
// locked.
func (l *instance) cleanUp(ctx context.Context, sweeper sweep.Sweeper) error {
	l.pool.Close(closeLimit / 2)
	err := sweeper.RemoveAll(ctx)
	l.server.Stop()
	return errors.Join(err,
		sweep.UnmountBelow(l.config.DataDir),
		sweep.UnmountBelow(l.config.RuntimeDir),
		removeRuntimeDir(l.config.RuntimeDir))
}

// removeRuntimeDir removes a runtime directory whose gate is locked. It removes the gate
// last: from then on a client may create another gate, and files behind it, which must
// stay.
func removeRuntimeDir(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err, os.RemoveAll(layout.MemoryRoot(dir))}
	for _, e := range entries {
		if e.Name() != layout.GateName {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, layout.GateName)); err != nil {
		return err
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOTEMPTY) { // a new client has created files
		return &os.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}
