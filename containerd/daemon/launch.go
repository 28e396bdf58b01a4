package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"deployster/containerd/layout"
	"deployster/internal/base/programs"
	"deployster/internal/base/rootless"
)

const (
	bootLimit = 30 * time.Second // how long a server may take to be ready
	LogLimit  = 1 << 20          // bytes of a server's log, beyond which a new one begins
)

// attach makes this process a client of the embedded containerd, and starts that if it
// does not run. It returns the lock that shows that the client is alive.
func attach(ctx context.Context, c layout.Config, id string) (held *layout.ClientLock, started bool, err error) {
	gate, err := layout.LockGate(ctx, c.RuntimeDir)
	if err != nil {
		return nil, false, err
	}
	defer gate.Close()
	if held, err = layout.NewClientLock(ctx, c.RuntimeDir, id); err != nil {
		return nil, false, err
	}
	if Listening(c.Socket()) {
		return held, false, nil
	}
	if err := launch(ctx, c); err != nil {
		return nil, false, errors.Join(err, held.Release())
	}
	return held, true, nil
}

// Listening reports whether a server listens at a socket. A server that is ending holds
// the gate, so a caller behind the gate cannot see it.
func Listening(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// awaitAbandoned waits for the end of a server whose data directory was removed, and
// perhaps created again: such a server is useless, and ends as soon as it notices. It
// removes the directories that a new server will create again.
func awaitAbandoned(ctx context.Context, c layout.Config) error {
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	for Listening(c.Socket()) {
		if f, err := layout.OpenLock(c.LockFile(), 0); err == nil {
			free, err := layout.TryLock(f)
			if err := errors.Join(err, f.Close()); err != nil || !free {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return errStuck(c, fmt.Errorf("its data directory %s was removed, and it does not end", c.DataDir))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// launch starts a server and waits until it is ready.
func launch(ctx context.Context, c layout.Config) error {
	logFile, err := openLog(c.LogFile())
	if err != nil {
		return layout.ErrDataDir(c.DataDir, err)
	}
	defer logFile.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	// A server outlives this process by far: it must not keep file descriptors that this
	// process has inherited, such as a shell script's lock on descriptor 9.
	closeInheritedOnExec()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe",
		Args: c.Args(),
		Dir:  "/",
		Env: append([]string{"PATH=" + os.Getenv("PATH"), programs.Variable + "=" + os.Getenv(programs.Variable)},
			rootless.Environ()...),
		Stdout:      logFile,
		Stderr:      logFile,
		ExtraFiles:  []*os.File{w}, // becomes layout.ReportFD
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return errServer(c, err.Error())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // reaps it if it ends before this process
	report, err := readReport(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		_ = cmd.Process.Kill()
		return context.Cause(ctx)
	case err != nil:
		_ = cmd.Process.Kill()
		return errServer(c, fmt.Sprintf("It printed nothing (%v) and ended with: %v", err, <-ended))
	case report.Owner != "":
		return errOwned(c.DataDir, report.Owner)
	case !report.Ready:
		return errServer(c, report.Failure)
	}
	return nil
}

func readReport(ctx context.Context, r *os.File) (report layout.BootReport, err error) {
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		return report, err
	}
	return report, json.Unmarshal(line, &report)
}

func openLog(path string) (*os.File, error) {
	if i, err := os.Stat(path); err == nil && i.Size() > LogLimit {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// closeInheritedOnExec marks all files but the standard ones to be closed in children,
// except those that a child is given on purpose.
func closeInheritedOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscanf(e.Name(), "%d", &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// ReconnectLimit is how long a lost daemon may take to come back, as after an update,
// also on a busy machine: the containers continue running in the meantime.
const ReconnectLimit = 30 * time.Second

// dialLimit is how long reconnect tries to reach a server that seems to listen before the
// server is searched for again: one that is being killed listens to its end.
const dialLimit = time.Second

// Revive recovers from the loss of a server: it starts the embedded one again, which
// takes over the running containers; for a daemon it waits as long as an update takes.
//
// What was being created or removed when the server was killed may have no record, such
// as the cgroup of a container; so this client is swept after its end, like a dead one.
func (c *Conn) Revive(ctx context.Context) error {
	c.MarkDirty()
	for end := time.Now().Add(ReconnectLimit); ; {
		if err := c.ComeBack(ctx); err != nil {
			return err
		}
		err := c.reconnect(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

// relaunch starts the embedded server, if it does not run. If the directory with this
// client's lock file was removed, with the gate or without, relaunch fails: this client
// must not create it again.
func (c *Conn) relaunch(ctx context.Context) error {
	gate, err := layout.OpenLock(filepath.Join(c.Config.RuntimeDir, layout.GateName), 0)
	if err == nil {
		defer gate.Close()
		err = layout.WaitLock(ctx, gate)
	}
	if !c.Lock.Valid() {
		return errors.New("the server has removed everything of this client")
	}
	if err != nil {
		return err
	}
	if Listening(c.Config.Socket()) {
		return nil
	}
	return launch(ctx, c.Config)
}

// awaitDaemon waits until a daemon listens again. If it has given up once, it does not wait
// again: otherwise each cleanup at the end of a run would wait as long.
func (c *Conn) awaitDaemon(ctx context.Context) error {
	limit := ReconnectLimit
	if c.gone.Load() {
		limit = 0
	}
	awaited, cancel := context.WithTimeoutCause(ctx, limit, errNoDaemon(c.Socket, unix.ECONNREFUSED))
	defer cancel()
	err := layout.Poll(awaited, 100*time.Millisecond, func() (bool, error) { return Listening(c.Socket), nil })
	if ctx.Err() == nil {
		c.gone.Store(err != nil)
	}
	return err
}

// reconnect makes the client notice that its server is back, which it would otherwise
// check only after a pause.
func (c *Conn) reconnect(ctx context.Context) error {
	conn, ok := c.Client.Conn().(*grpc.ClientConn)
	if !ok || conn == nil {
		return nil // it uses another kind of connection
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn.ResetConnectBackoff()
	for state := conn.GetState(); state != connectivity.Ready; state = conn.GetState() {
		conn.Connect()
		if !conn.WaitForStateChange(ctx, state) {
			return context.Cause(ctx)
		}
	}
	return nil
}
