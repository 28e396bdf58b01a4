package idlepool

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/log"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/sweep"
)

const (
	PerKey     = 4           // workers that can replace each other
	Capacity   = 16          // workers in all
	checkEvery = time.Second // interval of the checks of what an idle worker prints
	MaxLog     = 1 << 20     // bytes that it may print on stderr while it is idle
)

// Server is the part of a server that keeps idle workers.
type Server struct {
	config layout.Config
	sweep  sweep.Sweeper
	socket *net.UnixListener

	mu      sync.Mutex
	workers []*pooledWorker // oldest first
	closed  bool
	open    sync.WaitGroup // workers that are kept or being ended, and connections
}

// pooledWorker is a worker that the server keeps.
type pooledWorker struct {
	Worker
	stdin   *os.File
	owner   *layout.ClientLock
	removed chan struct{} // closed when the server does not keep it any more
}

// NewServer starts the idle pool of a server.
func NewServer(c layout.Config, sweep sweep.Sweeper) (*Server, error) {
	if err := os.Remove(c.PoolSocket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	socket, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: c.PoolSocket(), Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(c.PoolSocket(), 0o600); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	k := &Server{config: c, sweep: sweep, socket: socket}
	go k.accept()
	return k, nil
}

func (k *Server) accept() {
	for {
		c, err := k.socket.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond) // there are too many open files
			continue
		}
		k.mu.Lock()
		if !k.closed {
			k.open.Go(func() { k.handle(c) })
		} else {
			_ = c.Close() // as if nobody listened
		}
		k.mu.Unlock()
	}
}

// handle answers one request.
func (k *Server) handle(c *net.UnixConn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(messageLimit)) // on failure it takes as long as it takes
	if peer, err := layout.Peer(c); err != nil || int(peer.Uid) != os.Geteuid() {
		return
	}
	m, stdin, lock, err := Receive(c)
	switch {
	case err != nil:
	case m.Worker != nil:
		h := &pooledWorker{Worker: *m.Worker, stdin: stdin, removed: make(chan struct{}),
			owner: &layout.ClientLock{File: lock, Path: filepath.Join(layout.ClientsDir(k.config.RuntimeDir),
				layout.ClientOf(m.Worker.ID))}}
		k.put(h)
		_ = Send(c, Message{}) // on failure the client just waits longer for the answer
	default:
		h := k.take(m.Key)
		if h == nil {
			_ = Send(c, Message{}) // on failure the client was killed
			return
		}
		if Send(c, Message{Worker: &h.Worker}, h.stdin, h.owner.File) != nil {
			k.end(h, h.Grace)
			return
		}
		h.closeFiles()
	}
}

// closeFiles closes this process's copies of the files that make an owner.
func (h *pooledWorker) closeFiles() {
	_ = h.stdin.Close()      // nothing was written
	_ = h.owner.File.Close() // nor here
}

// put keeps a worker from now on. If there are too many, it ends the oldest ones.
func (k *Server) put(h *pooledWorker) {
	// An incomplete worker has no owner from now on, and so will be swept.
	if locked, err := layout.TryLock(h.owner.File); err != nil || !locked || !h.owner.Valid() {
		h.closeFiles()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		h.closeFiles()
		return
	}
	same := 0
	for _, other := range slices.Backward(slices.Clone(k.workers)) {
		if other.Key == h.Key {
			same++
		}
		if other.Key == h.Key && same >= PerKey || len(k.workers) >= Capacity && other == k.workers[0] {
			k.remove(other)
			k.open.Go(func() { k.end(other, other.Grace) })
		}
	}
	k.workers = append(k.workers, h)
	k.open.Go(func() { k.watch(h) })
}

// remove removes a worker from the list, and reports whether it was listed. The caller holds the lock.
func (k *Server) remove(h *pooledWorker) bool {
	i := slices.Index(k.workers, h)
	if i < 0 {
		return false
	}
	k.workers = slices.Delete(k.workers, i, i+1)
	close(h.removed)
	return true
}

// take removes the newest worker with a key from the list, and returns it; nil = none.
func (k *Server) take(key string) *pooledWorker {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range slices.Backward(k.workers) {
		if h.Key == key {
			k.remove(h)
			return h
		}
	}
	return nil
}

// watch waits until a worker is taken. It ends the worker when its idle time is over, or
// when it does more than just wait.
func (k *Server) watch(h *pooledWorker) {
	ctx, stop := context.WithCancel(namespaces.WithNamespace(context.Background(), k.sweep.Namespace))
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// An error means that the server is ending, or the worker has ended.
		_, _ = k.sweep.Client.TaskService().Wait(ctx, &taskapi.WaitRequest{ContainerID: h.ID})
	}()
	full := sandbox.WatchDisk(ctx, h.Rootfs, h.Disk)
	idle := time.NewTimer(h.Idle)
	defer idle.Stop()
	look := time.NewTicker(checkEvery)
	defer look.Stop()
	for waits := true; waits; {
		select {
		case <-h.removed:
			return
		case <-idle.C:
			waits = false
		case <-ended:
			waits = false
		case <-full:
			waits = false
		case <-look.C:
			waits = runfiles.IsQuiet(filepath.Join(k.config.RuntimeDir, "io", layout.ClientOf(h.ID), h.ID), MaxLog)
		}
	}
	k.mu.Lock()
	ours := k.remove(h)
	k.mu.Unlock()
	if ours {
		k.end(h, h.Grace)
	}
}

// end ends a worker that is not in the list, and removes all that is left of it.
func (k *Server) end(h *pooledWorker, grace time.Duration) {
	ctx, stop := context.WithTimeout(namespaces.WithNamespace(context.Background(), k.sweep.Namespace), grace+sweep.CleanupLimit)
	defer stop()
	_ = h.stdin.Close() // on failure it is killed
	asking, enough := context.WithTimeout(ctx, grace)
	_, _ = k.sweep.Client.TaskService().Wait(asking, &taskapi.WaitRequest{ContainerID: h.ID}) // on failure it is killed
	enough()
	c, err := k.sweep.Client.ContainerService().Get(ctx, h.ID)
	if err == nil {
		err = sweep.RemoveContainer(ctx, k.sweep.Client, c)
	}
	if err = failure.UnlessGone(err); err == nil {
		err = os.RemoveAll(filepath.Join(k.config.RuntimeDir, "io", layout.ClientOf(h.ID)))
	}
	if err != nil {
		log.L.WithError(err).Warn("ending an idle worker")
		_ = h.owner.File.Close() // then it is swept
		return
	}
	_ = h.owner.Release() // on failure it is swept
}

// Others returns the clients whose containers are not idle workers of the pool.
func (k *Server) Others() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(layout.Clients(k.config.RuntimeDir), func(id string) bool {
		return slices.ContainsFunc(k.workers, func(h *pooledWorker) bool { return layout.ClientOf(h.ID) == id })
	})
}

// Close ends all idle workers, each within the given grace time or its own, whichever is
// shorter.
func (k *Server) Close(grace time.Duration) {
	k.mu.Lock()
	held := slices.Clone(k.workers)
	for _, h := range held {
		k.remove(h)
	}
	k.closed = true
	k.mu.Unlock()
	_ = k.socket.Close() // it ends with the process
	for _, h := range held {
		k.open.Go(func() { k.end(h, min(grace, h.Grace)) })
	}
	k.open.Wait()
}
