package containerd

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
	"golang.org/x/sys/unix"
)

const (
	keptPerKey = 4           // workers that could take each other's place
	keptInAll  = 16          // workers
	keptLook   = time.Second // between looks at what an idle worker prints
	keptLog    = 1 << 20     // bytes that it may print, on stderr, while nobody wants it
)

// keeper is the part of a server that keeps idle workers.
type keeper struct {
	config serverConfig
	sweep  sweeper
	socket *net.UnixListener

	mu     sync.Mutex
	held   []*heldWorker // the oldest first
	closed bool
	open   sync.WaitGroup // workers that are held or being ended, and conversations

	taking, working   context.Context // what clients have finished: is taken, and is being removed
	refuse, interrupt context.CancelFunc
	removing          chan struct{} // one is in it for each container that is being removed
}

// heldWorker is a worker of nobody's.
type heldWorker struct {
	idleWorker
	stdin *os.File
	owner *presence
	gone  chan struct{} // closed when it is not held any more
}

// keepWorkers begins to keep.
func keepWorkers(c serverConfig, sweep sweeper) (*keeper, error) {
	if err := os.Remove(c.keepSocket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	socket, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: c.keepSocket(), Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(c.keepSocket(), 0o600); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	k := &keeper{config: c, sweep: sweep, socket: socket, removing: make(chan struct{}, clearingMost)}
	k.taking, k.refuse = context.WithCancel(context.Background())
	k.working, k.interrupt = context.WithCancel(context.Background())
	go k.accept()
	return k, nil
}

func (k *keeper) accept() {
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
			k.open.Go(func() { k.converse(c) })
		} else {
			_ = c.Close() // as if nobody listened
		}
		k.mu.Unlock()
	}
}

// converse answers one request.
func (k *keeper) converse(c *net.UnixConn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(keepWait)) // else it takes as long as it takes
	if uid, err := askerOf(c); err != nil || uid != os.Geteuid() {
		return
	}
	m, stdin, lock, err := receiveKept(c)
	switch {
	case err != nil:
	case m.Worker != nil:
		h := &heldWorker{idleWorker: *m.Worker, stdin: stdin, gone: make(chan struct{}),
			owner: &presence{file: lock, path: filepath.Join(clientsDir(k.config.runtimeDir), clientOf(m.Worker.ID))}}
		k.take(h)
		_ = sendKept(c, keepMessage{}) // who gave it is just not told so soon
	case m.Finished != nil && lock != nil:
		k.clearAway(c, m, lock)
	default:
		h := k.find(m.Key)
		if h == nil {
			_ = sendKept(c, keepMessage{}) // who asked has died
			return
		}
		if sendKept(c, keepMessage{Worker: &h.idleWorker}, h.stdin, h.owner.file) != nil {
			k.end(h, h.Grace)
			return
		}
		h.letGo()
	}
}

// askerOf says as whom the other side of a connection runs.
func askerOf(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if cerr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); cerr != nil || err != nil {
		return 0, errors.Join(cerr, err)
	}
	return int(cred.Uid), nil
}

// letGo closes this process's copies of what makes an owner.
func (h *heldWorker) letGo() {
	_ = h.stdin.Close()      // nothing was written
	_ = h.owner.file.Close() // nor here
}

// take holds a worker from now on. Where there are too many, the oldest go.
func (k *keeper) take(h *heldWorker) {
	// What is not whole is nobody's from now on, and so will be swept.
	if locked, err := tryLock(h.owner.file); err != nil || !locked || !h.owner.there() {
		h.letGo()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		h.letGo()
		return
	}
	same := 0
	for _, other := range slices.Backward(slices.Clone(k.held)) {
		if other.Key == h.Key {
			same++
		}
		if other.Key == h.Key && same >= keptPerKey || len(k.held) >= keptInAll && other == k.held[0] {
			k.forget(other)
			k.open.Go(func() { k.end(other, other.Grace) })
		}
	}
	k.held = append(k.held, h)
	k.open.Go(func() { k.hold(h) })
}

// forget reports whether a worker was held until now. It is called with the lock held.
func (k *keeper) forget(h *heldWorker) bool {
	i := slices.Index(k.held, h)
	if i < 0 {
		return false
	}
	k.held = slices.Delete(k.held, i, i+1)
	close(h.gone)
	return true
}

// find gives the newest worker with a key, which is not held any more; nil = none.
func (k *keeper) find(key string) *heldWorker {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range slices.Backward(k.held) {
		if h.Key == key {
			k.forget(h)
			return h
		}
	}
	return nil
}

// hold waits until a worker is wanted, and ends it when that takes too long, or
// when it does not just wait.
func (k *keeper) hold(h *heldWorker) {
	ctx, stop := context.WithCancel(namespaces.WithNamespace(context.Background(), k.sweep.namespace))
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// When this fails the server is ending, or it has ended.
		_, _ = k.sweep.client.TaskService().Wait(ctx, &taskapi.WaitRequest{ContainerID: h.ID})
	}()
	full := watchDisk(ctx, h.Rootfs, h.Disk)
	idle := time.NewTimer(h.Idle)
	defer idle.Stop()
	look := time.NewTicker(keptLook)
	defer look.Stop()
	for waits := true; waits; {
		select {
		case <-h.gone:
			return
		case <-idle.C:
			waits = false
		case <-ended:
			waits = false
		case <-full:
			waits = false
		case <-look.C:
			waits = quiet(filepath.Join(k.config.runtimeDir, "io", clientOf(h.ID), h.ID), keptLog)
		}
	}
	k.mu.Lock()
	ours := k.forget(h)
	k.mu.Unlock()
	if ours {
		k.end(h, h.Grace)
	}
}

// quiet says of a program that nothing is asked of whether it has said nothing,
// and not more than so much on stderr.
func quiet(dir string, log int64) bool {
	for name, most := range map[string]int64{stdoutFile: 0, stderrFile: log} {
		if i, err := os.Lstat(filepath.Join(dir, name)); err != nil || !i.Mode().IsRegular() || i.Size() > most {
			return false
		}
	}
	return true
}

// end ends a worker that is not held, and removes what there is of it.
func (k *keeper) end(h *heldWorker, grace time.Duration) {
	ctx, stop := context.WithTimeout(namespaces.WithNamespace(context.Background(), k.sweep.namespace), grace+cleanupLimit)
	defer stop()
	_ = h.stdin.Close() // else it is killed
	asking, enough := context.WithTimeout(ctx, grace)
	_, _ = k.sweep.client.TaskService().Wait(asking, &taskapi.WaitRequest{ContainerID: h.ID}) // else it is killed
	enough()
	c, err := k.sweep.client.ContainerService().Get(ctx, h.ID)
	if err == nil {
		err = removeContainer(ctx, k.sweep.client, c)
	}
	if err = unlessGone(err); err == nil {
		err = os.RemoveAll(filepath.Join(k.config.runtimeDir, "io", clientOf(h.ID)))
	}
	if err != nil {
		log.L.WithError(err).Warn("ending an idle worker")
		_ = h.owner.file.Close() // it is swept
		return
	}
	_ = h.owner.release() // else it is swept
}

// others are the clients whose containers are not the workers that are held.
func (k *keeper) others() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(clients(k.config.runtimeDir), func(id string) bool {
		return slices.ContainsFunc(k.held, func(h *heldWorker) bool { return clientOf(h.ID) == id })
	})
}

// close ends all workers that are held, each within the grace time, or what is
// less, and finishes within it what clients have handed over to be removed.
func (k *keeper) close(grace time.Duration) {
	k.mu.Lock()
	held := slices.Clone(k.held)
	for _, h := range held {
		k.forget(h)
	}
	k.closed = true
	k.mu.Unlock()
	_ = k.socket.Close() // it ends with the process
	for _, h := range held {
		k.open.Go(func() { k.end(h, min(grace, h.Grace)) })
	}
	k.refuse()
	enough := time.AfterFunc(grace, k.interrupt) // what is left then is swept
	defer enough.Stop()
	k.open.Wait()
	k.interrupt()
}
