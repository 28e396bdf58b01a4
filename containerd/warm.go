package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"

	"deployster/internal/runner"
)

// warm is a running container in which queries are carried out, one at a time:
// so its limits are those of each, and to kill one is to kill the container.
type warm struct {
	*run
	fit     string // what its mounts show; see fingerprint
	served  int
	killed  atomic.Bool // by us
	odd     bool        // it is not to be kept, since it may know what is private
	agent   *agentConn  // starts the programs; nil = it has not begun
	buffers [2][]byte   // for what they print
}

// end removes the container with all that runs in it.
func (w *warm) end() error {
	ctx, cancel := w.r.detached(context.Background(), cleanupLimit)
	defer cancel()
	w.kill()
	var err error
	if w.agent != nil {
		// Its end is known to containerd a moment later; to ask for it before
		// starts runc for nothing.
		waiting, stop := context.WithTimeout(ctx, killLimit)
		defer stop()
		_, _ = w.tasks().Wait(waiting, &taskapi.WaitRequest{ContainerID: w.id}) // what is wrong, its removal will tell
		err = w.agent.Close()
	}
	err = errors.Join(err, w.remove(ctx, nil), w.io.remove())
	w.disown()
	return err
}

// kill ends all that runs in the container. Whether it does, its end will tell.
func (w *warm) kill() {
	w.killed.Store(true)
	if w.agent != nil { // else it has not begun
		w.agent.kill()
	}
}

// carry carries out a query in the container. It is not done when what came of
// it may be the container's fault and not the program's: then it is to be asked
// again in one of its own.
func (w *warm) carry(ctx context.Context, s runner.Spec) (res runner.Result, done bool, err error) {
	argv, err := s.Command(w.image.config.Entrypoint, w.image.config.Cmd)
	if err != nil {
		return res, false, err
	}
	u := &run{r: w.r, s: s, image: w.image, id: w.id, warm: w, kills: oomKills(w.id)}
	if u.io, err = w.r.newOutputs(w.r.newContainerID(), s); err != nil {
		return res, false, err
	}
	defer func() { err = join(err, u.io.remove()) }()
	waiting, stopWaiting := context.WithCancel(w.r.ctx(context.WithoutCancel(ctx)))
	defer stopWaiting()
	w.odd = w.odd || w.r.knows(argv...) || w.r.knows(string(s.Stdin)) // also when nothing begins
	ended, err := w.fork(u, argv)
	defer func() { u.forked.close() }()
	if err != nil {
		return res, false, err
	}
	res, err = u.finish(ctx, ended, watchDisk(waiting, w.rootfs, diskLimit(s.Settings)))
	if w.doubtful(res, err) && ctx.Err() == nil {
		return res, false, err
	}
	w.served++
	w.odd = w.odd || w.r.knows(string(res.Stdout), string(res.Stderr))
	return res, true, u.hand(res, err)
}

// doubtful reports whether a fresh container might have told something else.
func (w *warm) doubtful(res runner.Result, err error) bool {
	var unknown *runner.UnknownError
	var disk *runner.DiskError
	if errors.As(err, &unknown) || !w.killed.Load() && !w.waits() {
		return true
	}
	// What others have left there counts too.
	return w.served > 0 && (res.OOM || errors.As(err, &disk))
}

// settle makes sure that nothing of a query goes on when it has ended, as
// nothing would in a container of its own.
func (w *warm) settle() {
	const looks = 10
	for range looks {
		if procs, err := w.processes(); err == nil && len(procs) <= 1 || w.killed.Load() {
			return
		}
		time.Sleep(2 * time.Millisecond) // mostly it is just ending
	}
	w.kill()
}

// waits reports whether the container's first process lives.
func (w *warm) waits() bool {
	procs, err := w.processes()
	return err == nil && len(procs) > 0 && procs[0] == int(w.pid)
}

// processes gives the processes in the container, its first one before others.
func (w *warm) processes() (pids []int, err error) {
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", cgroupPath(w.id), "cgroup.procs"))
	if err != nil {
		// The older kind of cgroups.
		if b, err = os.ReadFile(filepath.Join("/sys/fs/cgroup/pids", cgroupPath(w.id), "cgroup.procs")); err != nil {
			return nil, err
		}
	}
	for line := range strings.Lines(string(b)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		switch {
		case err != nil:
			return nil, err
		case pid == int(w.pid):
			pids = append([]int{pid}, pids...)
		case processState(pid) != 'Z':
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// fingerprint tells the files that mounts show from others that have taken
// their places: a running container goes on showing the old ones.
func (r *Runtime) fingerprint(grants []grant) string {
	var b strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&b, "%s %s %d %d\n", g.Source, g.Target, g.stat.Dev, g.stat.Ino)
	}
	for _, name := range r.host.names {
		if i, err := os.Stat(name); err == nil {
			if st, ok := i.Sys().(*syscall.Stat_t); ok {
				fmt.Fprintf(&b, "%s %d %d\n", name, st.Dev, st.Ino)
			}
		}
	}
	return b.String()
}
