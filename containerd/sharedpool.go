package containerd

import (
	"encoding/json"
	"net"
	"os"
	"slices"
	"time"

	"deployster/containerd/agentconn"
	"deployster/containerd/idlepool"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/internal/runtime/runner"
)

// A container that queries have shared is kept like a worker: see workerpool.go. The
// connection to its agent takes the place of a worker's stdin; when all its holders have
// closed it, the agent ends.

const agentGrace = time.Second // how long an agent may take to end after its connection

// isPrivate reports whether one of the texts must not be known to a container that is kept.
func (r *Runtime) isPrivate(texts ...string) bool {
	return r.private != nil && slices.ContainsFunc(texts, r.private)
}

// poolsShared reports whether a container for queries like s may be kept, or be taken
// from the idle pool.
func (r *Runtime) poolsShared(s runner.Spec) bool {
	settings, err := json.Marshal(s.Settings)
	return r.conn.Embedded && r.keep > 0 && err == nil && !r.isPrivate(string(settings))
}

// takeIdle returns a container that an earlier command has left and that can replace this
// one; nil = there is none in good condition.
func (w *sharedContainer) takeIdle() *sharedContainer {
	key, err := w.container.poolKey()
	if err != nil {
		return nil
	}
	w.container.key = key
	for range idlepool.PerKey {
		c, conn, asked := w.container.take()
		if c == nil {
			return nil
		}
		c.files = &runfiles.Files{Dir: c.dir()}
		k := &sharedContainer{container: c, shows: w.shows, asked: asked, served: 1} // by earlier commands
		if k.resume(conn) {
			return k
		}
		w.container.r.runsOpen.Go(func() { _ = k.end() }) // if it fails, it is swept: see remove
	}
	return nil
}

// resume resumes the connection to the agent of a container that was kept, and reports
// whether the container is in good condition.
func (w *sharedContainer) resume(conn *os.File) bool {
	c, err := net.FileConn(conn)
	_ = conn.Close() // c has its own copy
	if err != nil {
		return false
	}
	socket, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return false
	}
	process, err := sandbox.OpenProcess(w.container.id, int(w.container.pid))
	if err != nil {
		_ = socket.Close()
		return false
	}
	w.agent = &agentconn.Conn{UnixConn: socket, Process: process}
	if w.container.spec.Kind == runner.Action {
		if w.ledger, err = runfiles.OpenLedger(w.container.dir()); err != nil {
			return false
		}
	}
	procs, err := sandbox.Processes(w.container.id, int(w.container.pid))
	return err == nil && len(procs) == 1 && w.container.isWell()
}

// putIdle hands a container over to the server, and reports whether the server has it
// now: then this client does not hold it any more.
func (w *sharedContainer) putIdle() bool {
	if w.container.lock == nil || w.tainted || w.container.key == "" || w.killed.Load() ||
		!runfiles.IsQuiet(w.container.dir(), idlepool.MaxLog) || !runfiles.IsSettled(w.container.dir()) {
		return false
	}
	if procs, err := sandbox.Processes(w.container.id, int(w.container.pid)); err != nil || len(procs) != 1 ||
		procs[0] != int(w.container.pid) {
		return false
	}
	conn, err := w.agent.File()
	if err != nil {
		return false
	}
	defer conn.Close()
	if !w.container.put(w.asked, agentGrace, conn) {
		return false
	}
	if w.ledger != nil {
		w.ledger.Close()
	}
	w.container.holder = byIdlePool
	w.container.releaseLock()
	w.container.files.Close()
	_ = w.agent.Close() // only this end of it
	return true
}
