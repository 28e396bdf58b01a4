package idlepool

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	"deployster/containerd/layout"
	"deployster/containerd/sweep"
)

// Finished is the container of a query that has ended, and all of whose output is
// known.
type Finished struct {
	ID          string `json:"id"` // of the container and its snapshot
	Snapshotter string `json:"snapshotter"`
}

// cleanUp removes the containers that a client hands over, one message for each,
// until the client says that it leaves or just ends. Its lock is held meanwhile,
// so that nobody sweeps. One that left well has nothing after that; what there is
// of any other is swept.
func (k *Server) cleanUp(c *net.UnixConn, m Message, lock *os.File) {
	client := layout.ClientOf(m.Finished.ID)
	owner := &layout.ClientLock{File: lock, Path: filepath.Join(layout.ClientsDir(k.config.RuntimeDir), client)}
	if locked, err := layout.TryLock(lock); err != nil || !locked || !owner.Valid() {
		_ = lock.Close() // it is not who it says
		return
	}
	_ = c.SetDeadline(time.Time{}) // a client lives as long as it likes
	stop := context.AfterFunc(k.taking, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var group sync.WaitGroup
	var failed atomic.Bool
	var err error
	for err == nil && !m.Rest {
		if m.Finished == nil || layout.ClientOf(m.Finished.ID) != client {
			break
		}
		f := *m.Finished
		group.Go(func() {
			err := k.removeFinished(f, client)
			if err != nil {
				failed.Store(true)
				log.L.WithError(err).Warn("removing the container of a query")
			}
			_ = Send(c, Message{Finished: &f, Failed: err != nil}) // it may have left
		})
		var more *os.File
		if m, _, more, err = Receive(c); more != nil {
			_ = more.Close() // one is enough
		}
	}
	group.Wait()
	if err == nil && m.Rest && !failed.Load() {
		if err = k.release(owner, client); err == nil {
			return
		}
		log.L.WithError(err).Warn("removing what a client has left")
	}
	_ = lock.Close() // it is swept, when the client has ended
}

// removeFinished takes its turn.
func (k *Server) removeFinished(f Finished, client string) error {
	select {
	case k.removing <- struct{}{}:
	case <-k.working.Done():
		return context.Cause(k.working)
	}
	defer func() { <-k.removing }()
	ctx := leases.WithLease(namespaces.WithNamespace(k.working, k.sweep.Namespace), layout.LeaseOf(client))
	return sweep.RemoveContainer(ctx, k.sweep.Client, containers.Container{ID: f.ID, Snapshotter: f.Snapshotter, SnapshotKey: f.ID})
}

// release removes what is left of a client whose containers are gone: its lease,
// the directory of its files, and its lock.
func (k *Server) release(owner *layout.ClientLock, client string) error {
	ctx, cancel := context.WithTimeout(namespaces.WithNamespace(k.working, k.sweep.Namespace), sweep.CleanupLimit)
	defer cancel()
	err := k.sweep.Client.LeasesService().Delete(ctx, leases.Lease{ID: layout.LeaseOf(client)})
	if errdefs.IsNotFound(err) {
		err = nil
	}
	if err = errors.Join(err, os.RemoveAll(filepath.Join(k.config.RuntimeDir, "io", client))); err != nil {
		return err
	}
	return owner.Release()
}
