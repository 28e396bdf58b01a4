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

	"github.com/moby/sys/mountinfo"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"deployster/containerd/idlepool"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/internal/base/proc"
	"deployster/internal/runner"
)

// pools reports whether a program may be handed over at its end, and one be taken
// that was: the embedded containerd only has a process of ours.
func (r *Runtime) pools(s runner.Spec) bool { return s.Keep && r.conn.Embedded && r.keep > 0 }

// poolKey is the same for two workers only if one may stand for the other: all
// that their containers are made of is, what their mounts show, the program that
// looks after them, and the project.
func (c *container) poolKey() (string, error) {
	spec := *c.box.Spec
	spec.Linux = new(specs.Linux)
	*spec.Linux = *c.box.Spec.Linux
	spec.Linux.CgroupsPath = "" // has the container's name
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	below, err := mountsBelow(c.box.Grants)
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
	}{idlepool.Format, fmt.Sprint(numberOf(self), self.Size(),
		self.ModTime().UnixNano()), c.r.keepScope, c.image.Digest.String(), c.image.Chain,
		c.r.conn.Snapshotter, c.r.conn.Runc, os.Getuid(), &spec, c.spec.Settings,
		c.r.sandboxes.Fingerprint(c.box.Grants), below, c.spec.KeepLog, int64(c.spec.Grace)})
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// numberOf tells a file from all others that are there.
func numberOf(i os.FileInfo) string {
	if st, ok := i.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d %d", st.Dev, st.Ino)
	}
	return ""
}

// mountsBelow tells what is mounted below what a container is given: one that
// runs goes on without what is mounted there later.
func mountsBelow(grants []sandbox.Grant) (below []string, err error) {
	if len(grants) == 0 {
		return nil, nil
	}
	list, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		for _, g := range grants {
			if sandbox.Within(m.Mountpoint, g.Source) {
				return false, false
			}
		}
		return true, false
	})
	for _, m := range list {
		below = append(below, fmt.Sprintf("%d %d:%d %s %s", m.ID, m.Major, m.Minor, m.Root, m.Mountpoint))
	}
	return below, err
}

// offer is the wish to hand a program over; see runner.Process.
type offer struct {
	asked, heard int64
	refused      chan struct{}
}

// Keep implements runner.Process.
func (p *process) Keep(asked, heard int64) bool {
	if p.offers == nil {
		return false
	}
	o := offer{asked, heard, make(chan struct{})}
	select {
	case p.offers <- o:
	case <-p.ended:
		return false
	}
	select {
	case <-o.refused:
		return false
	case <-p.ended:
		return p.handed
	}
}

// handOver gives a worker to the idle pool, and reports whether that has it now: then
// it is nothing of this client's any more, whatever becomes of the server.
func (w workerProgram) handOver(o offer) bool {
	if i, err := os.Stat(w.files.Stdout.Path); err != nil || i.Size() != o.heard || sandbox.OOMKills(w.id) > w.kills {
		return false // it has said more than anybody has heard
	}
	// What it said before is nobody's affair any more. Who writes there, does at the end.
	if errors.Join(os.Truncate(w.files.Stdout.Path, 0), os.Truncate(w.files.Stderr.Path, 0)) != nil {
		return false
	}
	return w.put(o.asked, cmp.Or(w.spec.Grace, runner.DefaultGrace), w.process.Input)
}

// put gives a container with its input to the idle pool.
func (c *container) put(asked int64, grace time.Duration, input *os.File) bool {
	return c.r.pool.Put(idlepool.Worker{Key: c.key, ID: c.id, Pid: c.pid, Asked: asked, Rootfs: c.rootfs,
		Disk: sandbox.DiskLimit(c.spec.Settings), Grace: grace, Idle: c.r.keep}, input, c.lock.File)
}

// poolable returns the worker that an earlier command has left; or nil, and makes this
// one ready to be handed over.
func (w workerProgram) poolable(ctx context.Context) (idle *workerProgram, err error) {
	if w.key, err = w.poolKey(); err != nil {
		return nil, err
	}
	if idle = w.takeIdle(); idle == nil {
		idle, err = nil, w.lockItself(ctx)
		w.process.offers, w.process.handOver = make(chan offer), w.handOver
		return nil, err
	}
	idle.process.offers, idle.process.handOver = make(chan offer), idle.handOver
	return idle, nil
}

// takeIdle returns a worker that an earlier command has left, if there is one that
// could stand for w, and is well; nil = none. What is not well is ended.
func (w workerProgram) takeIdle() *workerProgram {
	for range idlepool.PerKey {
		c, input, before := w.take()
		if c == nil {
			return nil
		}
		idle := &workerProgram{c, newProcess(w.r)}
		idle.process.Input, idle.process.before = input, before
		if idle.isWell() && idle.reopen() == nil {
			return idle
		}
		w.r.runsOpen.Go(idle.discard) // while others go on
	}
	return nil
}

// take asks the idle pool for a container that could stand for this one, with the
// file that came with its lock, and how often it was asked. nil = there is none.
func (c *container) take() (taken *container, input *os.File, asked int64) {
	w, input, lock := c.r.pool.Take(c.key)
	if w == nil {
		return nil, nil, 0
	}
	path := filepath.Join(layout.ClientsDir(c.r.conn.Config.RuntimeDir), layout.ClientOf(w.ID))
	return &container{r: c.r, spec: c.spec, image: c.image, box: c.box, id: w.ID, key: c.key, pid: w.Pid, worker: c.worker, phase: started,
		rootfs: w.Rootfs, kills: sandbox.OOMKills(w.ID), lock: &layout.ClientLock{File: lock, Path: path}}, input, w.Asked
}

// isWell reports whether a program that was kept just waits.
func (c *container) isWell() bool {
	locked, err := layout.TryLock(c.lock.File)
	if err != nil || !locked || !c.lock.Valid() || !runfiles.IsQuiet(c.dir(), idlepool.MaxLog) {
		return false
	}
	// The server may not have heard of its end yet.
	fd, err := c.open(int(c.pid))
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return !proc.Of(int(c.pid)).Ended()
}

// reopen opens the files of a worker that was kept.
func (w workerProgram) reopen() (err error) {
	w.files, err = runfiles.ReopenConversation(w.r.conn.Config.RuntimeDir, w.id, &w.process.Conversation)
	return err
}

// discard removes a worker that was kept and is of no use.
func (w workerProgram) discard() {
	w.process.Close()
	if w.remove(context.Background(), nil) == nil {
		_ = os.RemoveAll(w.dir()) // else it is swept
	}
	w.releaseLock()
}

// resume is run for a worker that an earlier command has begun.
func (w workerProgram) resume(ctx context.Context) (res runner.Result, err error) {
	defer w.closeFiles(&err)
	defer w.cleanUp(ctx, &err)
	waiting, stopWaiting := context.WithCancel(w.r.conn.Context(context.WithoutCancel(ctx)))
	defer stopWaiting()
	ended := w.wait(waiting)
	close(w.process.began)
	return w.attend(ctx, w, w.process, ended)
}
