package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"github.com/containerd/typeurl/v2"
	"golang.org/x/sys/unix"

	"deployster/internal/invoke"
)

// warm is a running container in which queries are carried out, one at a time:
// so its limits are those of each, and to kill one is to kill the container.
type warm struct {
	*run
	fit    string // what its mounts show; see fingerprint
	served int
	killed bool // by us
}

// newWarm makes and starts a container for queries like s.
func (r *Runtime) newWarm(ctx context.Context, s invoke.Spec, image *prepared) (w *warm, err error) {
	pause, err := r.pauseFile()
	if err != nil {
		return nil, err
	}
	s = invoke.Spec{Name: "shared by runs of " + s.Digest, Kind: invoke.Query, Digest: s.Digest, Entrypoint: pausePath, Mounts: s.Mounts, Settings: s.Settings}
	w = &warm{run: &run{r: r, s: s, image: image, id: r.newContainerID()}}
	if w.box, err = r.sandbox(w.id, image, s); err != nil {
		return nil, err
	}
	defer w.box.close()
	w.fit = r.fingerprint(w.box.grants)
	m := r.host.bind(pause, pausePath, false)
	w.box.spec.Mounts = append(w.box.spec.Mounts, m)
	*w.box.spec.Linux.Resources.Pids.Limit++ // the one that waits
	setup, cancel := r.detached(ctx, setupLimit)
	defer cancel()
	if w.io, err = r.newStdio(w.id, invoke.Spec{}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.end())
		}
	}()
	rootfs, err := w.create(setup)
	if err != nil {
		return nil, err
	}
	w.rootfs = rootfs
	if err := w.createTask(setup, rootfs); err != nil {
		return nil, err
	}
	if _, err := w.tasks().Start(setup, &taskapi.StartRequest{ContainerID: w.id}); err != nil {
		return nil, errgrpc.ToNative(err)
	}
	if procs, err := w.processes(); err != nil || len(procs) != 1 {
		return nil, fmt.Errorf("the processes of a container cannot be seen from here: %d (%w)", len(procs), err)
	}
	return w, nil
}

// end removes the container with all that runs in it.
func (w *warm) end() error {
	ctx, cancel := w.r.detached(context.Background(), cleanupLimit)
	defer cancel()
	w.kill(ctx)
	return errors.Join(w.remove(ctx, nil), w.io.remove())
}

// kill ends all that runs in the container. Whether it does, its end will tell.
func (w *warm) kill(ctx context.Context) {
	w.killed = true
	_, _ = w.tasks().Kill(ctx, &taskapi.KillRequest{ContainerID: w.id, Signal: uint32(unix.SIGKILL), All: true})
}

// carry carries out a query in the container. It is not done when what came of
// it may be the container's fault and not the program's: then it is to be asked
// again in one of its own.
func (w *warm) carry(ctx context.Context, s invoke.Spec) (res invoke.Result, done bool, err error) {
	argv, err := s.Command(w.image.config.Entrypoint, w.image.config.Cmd)
	if err != nil {
		return res, false, err
	}
	u := &run{r: w.r, s: s, image: w.image, id: w.id, exec: w.r.newContainerID(), warm: w, kills: oomKills(w.id)}
	if u.io, err = w.r.newStdio(u.exec, s); err != nil {
		return res, false, err
	}
	defer func() { err = join(err, u.io.remove()) }()
	process := *w.box.spec.Process
	process.Args = argv
	spec, err := typeurl.MarshalAny(&process)
	if err != nil {
		return res, false, err
	}
	setup, cancel := w.r.detached(ctx, setupLimit)
	defer cancel()
	if _, err := u.tasks().Exec(setup, &taskapi.ExecProcessRequest{ContainerID: u.id, ExecID: u.exec, Stdin: u.io.stdin,
		Stdout: u.io.stdout.path, Stderr: u.io.stderr.path, Spec: typeurl.MarshalProto(spec)}); err != nil {
		return res, false, errgrpc.ToNative(err)
	}
	waiting, stopWaiting := context.WithCancel(w.r.ctx(context.WithoutCancel(ctx)))
	defer stopWaiting()
	exit := u.wait(waiting)
	resp, err := u.tasks().Start(setup, &taskapi.StartRequest{ContainerID: u.id, ExecID: u.exec})
	if err != nil {
		return res, false, errgrpc.ToNative(err)
	}
	u.pid = resp.Pid
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	res, err = u.finish(ctx, exit, watchDisk(watching, w.rootfs, diskLimit(s.Settings)))
	if w.doubtful(res, err) && ctx.Err() == nil {
		return res, false, err
	}
	w.served++
	return res, true, u.hand(res, err)
}

// doubtful says whether a fresh container might have told something else.
func (w *warm) doubtful(res invoke.Result, err error) bool {
	var unknown *invoke.UnknownError
	var disk *invoke.DiskError
	if errors.As(err, &unknown) || !w.killed && !w.waits() {
		return true
	}
	// What others have left there counts too.
	return w.served > 0 && (res.OOM || errors.As(err, &disk))
}

// settle makes sure that nothing of a query goes on when it has ended, as
// nothing would in a container of its own.
func (w *warm) settle(ctx context.Context) {
	const looks = 10
	for range looks {
		if procs, err := w.processes(); err == nil && len(procs) <= 1 || w.killed {
			return
		}
		time.Sleep(2 * time.Millisecond) // mostly it is just ending
	}
	w.kill(ctx)
}

// waits says whether the container's first process lives.
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
