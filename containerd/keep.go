package containerd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/moby/sys/mountinfo"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/runner"
)

// clientOf is the client whose container has a name: its own ID is the beginning.
func clientOf(container string) string {
	return container[:max(strings.LastIndexByte(container, '-'), 0)]
}

// keeps reports whether a program may be handed over at its end, and one be taken
// that was: the embedded containerd only has a process of ours.
func (r *Runtime) keeps(s runner.Spec) bool { return s.Keep && r.embedded && r.keep > 0 }

// keepKey is the same for two workers only if one may stand for the other: all
// that their containers are made of is, what their mounts show, the program that
// looks after them, and the project.
func (r *Runtime) keepKey(u *run) (string, error) {
	spec := *u.box.spec
	spec.Linux = new(specs.Linux)
	*spec.Linux = *u.box.spec.Linux
	spec.Linux.CgroupsPath = "" // has the container's name
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	below, err := mountsBelow(u.box.grants)
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
	}{keepFormat, fmt.Sprint(numberOf(self), self.Size(), self.ModTime().UnixNano()), r.keepScope, u.image.digest.String(), u.image.chain,
		r.snapshotter, r.runc, os.Getuid(), &spec, u.s.Settings, r.fingerprint(u.box.grants), below, u.s.KeepLog, int64(u.s.Grace)})
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
func mountsBelow(grants []grant) (below []string, err error) {
	if len(grants) == 0 {
		return nil, nil
	}
	list, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		for _, g := range grants {
			if within(m.Mountpoint, g.Source) {
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

// handOver gives a worker to the server, and reports whether it has it now: then
// it is nothing of this client's any more, whatever becomes of the server.
func (u *run) handOver(o offer) bool {
	if i, err := os.Stat(u.io.stdout.path); err != nil || i.Size() != o.heard || oomKills(u.id) > u.kills {
		return false // it has said more than anybody has heard
	}
	// What it said before is nobody's affair any more. Who writes there, does at the end.
	if errors.Join(os.Truncate(u.io.stdout.path, 0), os.Truncate(u.io.stderr.path, 0)) != nil {
		return false
	}
	c, err := u.r.dialKeeper()
	if err != nil {
		return false // an older server, or one that is ending
	}
	defer c.Close()
	w := idleWorker{Key: u.key, ID: u.id, Pid: u.pid, Asked: o.asked, Rootfs: u.rootfs, Disk: diskLimit(u.s.Settings),
		Grace: cmp.Or(u.s.Grace, runner.DefaultGrace), Idle: u.r.keep}
	if sendKept(c, keepMessage{Worker: &w}, u.talk.stdin, u.owner.file) != nil {
		return false
	}
	// It has been sent, and there is no way back. The answer says that the next
	// command will find it.
	_, _, _, _ = receiveKept(c)
	return true
}

// dialKeeper speaks to the server's keeper.
func (r *Runtime) dialKeeper() (*net.UnixConn, error) {
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: r.server.keepSocket(), Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(keepWait))
}

// keepable gives the worker that an earlier command has left, or makes one ready
// to be run that has an owner of its own, and can be handed over.
func (r *Runtime) keepable(ctx context.Context, u *run) (taken *run, ok bool, err error) {
	if u.box, err = r.sandbox(u.id, u.image, u.s); err != nil {
		return nil, false, err
	}
	if u.key, err = r.keepKey(u); err == nil {
		if taken, ok = r.takeKept(u); ok {
			u.box.close()
			taken.talk.offers = make(chan offer)
			return taken, true, nil
		}
		if err = u.ownItself(ctx); err == nil {
			u.talk.offers = make(chan offer)
			return u, false, nil
		}
	}
	u.box.close()
	return nil, false, r.failure("Making a container that can be kept", err)
}

// ownItself gives a container that is not made yet an owner of its own.
func (u *run) ownItself(ctx context.Context) (err error) {
	owner := newID()
	if u.owner, err = register(ctx, u.r.runtimeDir, owner); err != nil {
		return err
	}
	u.id = owner + "-1"
	u.box.spec.Linux.CgroupsPath = cgroupPath(u.id)
	return nil
}

// disown gives up the owner that a run has of its own.
func (u *run) disown() {
	switch {
	case u.owner == nil:
	case u.handed:
		_ = u.owner.file.Close() // it is another's, who has it too
	case u.kept || u.left:
		_ = u.owner.file.Close() // it counts as dead now, and is swept after
	default:
		_ = os.RemoveAll(filepath.Dir(u.dir()))
		_ = u.owner.release() // else it is swept
	}
}
