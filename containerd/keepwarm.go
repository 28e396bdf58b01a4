package containerd

import (
	"encoding/json"
	"net"
	"os"
	"slices"
	"time"

	"deployster/internal/runner"
)

// What queries have shared is kept as a worker is: see keep.go. The connection to
// its agent takes the place of a worker's stdin; when that is closed by all who
// have it, the agent ends.

const agentGrace = time.Second // between the end of the connection and that of the agent

// knows reports whether one of some texts must not be known to what is kept.
func (r *Runtime) knows(texts ...string) bool {
	return r.private != nil && slices.ContainsFunc(texts, r.private)
}

// keepsShared reports whether a container for queries like s may be kept, or be one
// that was.
func (r *Runtime) keepsShared(s runner.Spec) bool {
	settings, err := json.Marshal(s.Settings)
	return r.embedded && r.keep > 0 && err == nil && !r.knows(string(settings))
}

// kept gives the container that an earlier command has left and that could stand
// for this one, nil = there is none that is well.
func (w *warm) kept() *warm {
	key, err := w.r.keepKey(w.run)
	if err != nil {
		return nil
	}
	w.key = key
	for range keptPerKey {
		u, conn, _ := w.askKeeper()
		if u == nil {
			return nil
		}
		u.io = &stdio{dir: u.dir()}
		k := &warm{run: u, fit: w.fit, served: 1} // by others
		if k.resume(conn) {
			return k
		}
		w.r.runsOpen.Add(1) // this is called within a run, so that it is not zero
		go func() {
			defer w.r.runsOpen.Done()
			_ = k.end() // what is left is swept: see remove
		}()
	}
	return nil
}

// resume takes up the connection to the agent of a container that was kept, and
// reports whether all is well with it.
func (w *warm) resume(conn *os.File) bool {
	c, err := net.FileConn(conn)
	_ = conn.Close() // c has its own
	if err != nil {
		return false
	}
	socket, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return false
	}
	process, err := w.open(int(w.pid))
	if err != nil {
		_ = socket.Close()
		return false
	}
	w.agent = &agentConn{UnixConn: socket, process: process}
	w.makeBuffers()
	procs, err := w.processes()
	return err == nil && len(procs) == 1 && w.isWell()
}

// keep hands a container over to the server, and reports whether it has it now: then
// it is nothing of this client's any more.
func (w *warm) keep() bool {
	if w.agent == nil || w.owner == nil || w.odd || w.key == "" || w.killed.Load() || !quiet(w.dir(), keptLog) {
		return false
	}
	if procs, err := w.processes(); err != nil || len(procs) != 1 || procs[0] != int(w.pid) {
		return false
	}
	conn, err := w.agent.File()
	if err != nil {
		return false
	}
	defer conn.Close()
	c, err := w.r.dialKeeper()
	if err != nil {
		return false // an older server, or one that is ending
	}
	defer c.Close()
	m := idleWorker{Key: w.key, ID: w.id, Pid: w.pid, Rootfs: w.rootfs, Disk: diskLimit(w.s.Settings), Grace: agentGrace, Idle: w.r.keep}
	if sendKept(c, keepMessage{Worker: &m}, conn, w.owner.file) != nil {
		return false
	}
	// It has been sent, and there is no way back. The answer says that the next
	// command will find it.
	_, _, _, _ = receiveKept(c)
	w.handed = true
	w.disown()
	w.io.close()
	_ = w.agent.Close() // only this end of it
	return true
}

// rest keeps a container, or ends it.
func (w *warm) rest() error {
	if w.keep() {
		return nil
	}
	return w.end()
}
