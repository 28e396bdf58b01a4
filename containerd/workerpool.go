package containerd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"deployster/containerd/idlepool"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/supervise"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
)

// pools reports whether a worker may be handed over at its end, and one be taken that was
// handed over: only the embedded containerd has a server process of deployster.
func (r *Runtime) pools(s runner.Spec) bool { return s.Keep && r.conn.Embedded && r.keep > 0 }

// poolKey returns the same key for two workers only if one can replace the other: their
// containers have the same configuration, their mounts show the same, and the program
// that supervises them and the project are the same.
func (c *container) poolKey() (string, error) {
	spec := *c.box.Spec
	spec.Linux = new(specs.Linux)
	*spec.Linux = *c.box.Spec.Linux
	spec.Linux.CgroupsPath = "" // it has the container's name
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	below, err := sandbox.MountsBelow(c.box.Grants)
	if err != nil {
		return "", err
	}
	content, err := json.Marshal(struct {
		Format         int
		Self           string
		Scope          string
		Digest, Chain  string
		Snapshotter    string
		Runc           string
		User           int
		Spec           *specs.Spec
		Settings       runner.Settings
		Fit            string
		Below          []string
		KeepLog, Grace int64
		Kind           runner.Kind
		Sharers        string
	}{idlepool.Format, fmt.Sprint(numberOf(self), self.Size(),
		self.ModTime().UnixNano()), c.r.keepScope, c.image.Digest.String(), c.image.Chain,
		c.r.conn.Snapshotter, c.r.conn.Runc, os.Getuid(), &spec, c.spec.Settings,
		c.r.sandboxes.Fingerprint(c.box.Grants), below, c.spec.KeepLog, int64(c.spec.Grace), c.spec.Kind, c.spec.Sharers()})
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// numberOf identifies a file among all others that exist.
func numberOf(i os.FileInfo) string {
	if st, ok := i.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d %d", st.Dev, st.Ino)
	}
	return ""
}

// Keep implements runner.Process.
func (p *process) Keep(asked, heard int64) bool {
	if p.offers == nil {
		return false
	}
	o := supervise.NewOffer(asked, heard)
	select {
	case p.offers <- o:
	case <-p.ended:
		return false
	}
	select {
	case <-o.Refused():
		return false
	case <-p.ended:
		return p.handed
	}
}

// handOver gives a worker to the idle pool, and reports whether the pool has it now: then
// this client does not hold it any more, whatever happens to the server.
func (w workerProgram) handOver(o supervise.Offer) bool {
	if i, err := os.Stat(w.container.files.Stdout.Path); err != nil || i.Size() != o.Heard ||
		sandbox.OOMKills(w.container.id) > w.container.kills {
		return false // it has printed more than was read
	}
	// Its earlier output is not needed any more. All writers append to the files.
	if errors.Join(os.Truncate(w.container.files.Stdout.Path, 0), os.Truncate(w.container.files.Stderr.Path, 0)) != nil {
		return false
	}
	return w.container.put(o.Asked, cmp.Or(w.container.spec.Grace, runner.DefaultGrace), w.process.Input)
}

// put gives a container with its input to the idle pool.
func (c *container) put(asked int64, grace time.Duration, input *os.File) bool {
	return c.r.pool.Put(idlepool.Worker{Key: c.key, ID: c.id, Pid: c.pid, Asked: asked, Rootfs: c.rootfs,
		Disk: sandbox.DiskLimit(c.spec.Settings), Grace: grace, Idle: c.r.keep}, input, c.lock.File)
}

// poolable returns the worker that an earlier command has left; or nil, after it has made
// this one ready to be handed over.
func (w workerProgram) poolable(ctx context.Context) (idle *workerProgram, err error) {
	if w.container.key, err = w.container.poolKey(); err != nil {
		return nil, err
	}
	if idle = w.takeIdle(); idle == nil {
		idle, err = nil, w.container.lockItself(ctx)
		w.process.offers, w.process.handOver = make(chan supervise.Offer), w.handOver
		return nil, err
	}
	idle.process.offers, idle.process.handOver = make(chan supervise.Offer), idle.handOver
	return idle, nil
}

// takeIdle returns a worker in good condition that an earlier command has left, if one
// can replace w; nil = none. It removes those in bad condition.
func (w workerProgram) takeIdle() *workerProgram {
	for range idlepool.PerKey {
		c, input, before := w.container.take()
		if c == nil {
			return nil
		}
		idle := &workerProgram{c, newProcess(w.container.r)}
		idle.process.Input, idle.process.before = input, before
		if idle.container.isWell() && idle.reopen() == nil {
			return idle
		}
		w.container.r.runsOpen.Go(idle.discard) // in the background
	}
	return nil
}

// take takes a container from the idle pool that can replace this one, with the file that
// was stored with its lock, and the number of its last request. nil = there is none.
func (c *container) take() (taken *container, input *os.File, asked int64) {
	w, input, lock := c.r.pool.Take(c.key)
	if w == nil {
		return nil, nil, 0
	}
	path := filepath.Join(layout.ClientsDir(c.r.conn.Config.RuntimeDir), layout.ClientOf(w.ID))
	return &container{r: c.r, spec: c.spec, image: c.image, box: c.box, id: w.ID, key: c.key, pid: w.Pid, worker: c.worker,
		shared: c.shared, phase: started, rootfs: w.Rootfs, kills: sandbox.OOMKills(w.ID),
		lock: &layout.ClientLock{File: lock, Path: path}}, input, w.Asked
}

// isWell reports whether a program that was kept is alive and waits for requests.
func (c *container) isWell() bool {
	locked, err := layout.TryLock(c.lock.File)
	if err != nil || !locked || !c.lock.Valid() || !runfiles.IsQuiet(c.dir(), idlepool.MaxLog) {
		return false
	}
	// The server may not have noticed its end yet.
	fd, err := c.open(int(c.pid))
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return !proc.Of(int(c.pid)).Ended()
}

// reopen opens the files of a worker that was kept.
func (w workerProgram) reopen() (err error) {
	w.container.files, err = runfiles.ReopenConversation(w.container.r.conn.Config.RuntimeDir, w.container.id, &w.process.Conversation)
	return err
}

// discard removes a worker that was kept and is in bad condition.
func (w workerProgram) discard() {
	w.process.Close()
	if w.container.remove(context.Background(), nil) == nil {
		_ = os.RemoveAll(w.container.dir()) // if it fails, it is swept
	}
	w.container.releaseLock()
}

// resume is run for a worker that an earlier command has started.
func (w workerProgram) resume(ctx context.Context) (res runner.Result, err error) {
	defer w.container.closeFiles(&err)
	defer w.container.cleanUp(ctx, &err)
	waiting, stopWaiting := context.WithCancel(w.container.r.conn.Context(context.WithoutCancel(ctx)))
	defer stopWaiting()
	ended := w.container.wait(waiting)
	close(w.process.began)
	return w.container.attend(ctx, w, w.process, ended)
}
