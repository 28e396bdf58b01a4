package pod

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/pod/programs"
	"deployster/internal/runtime/remote"
)

// Options are the constants of the agent of a Pod.
type Options struct {
	Socket  string        // where it listens
	Message string        // the file of the termination message
	Events  string        // of the container's cgroup, with what ran out of memory
	Stop    time.Duration // what the Pod gets when it is deleted
	Idle    time.Duration // without a client and an open action, until the agent ends
	Keep    time.Duration // of an outcome that nobody has recorded
	Workers int           // at most, unless a type declares their number
	Timing  remote.Timing
	Log     io.Writer // gets a line for each action, for people
}

// ending is how long before Options.Stop is over the actions get SIGTERM.
const ending = 30 * time.Second

// heard is how long a client may take to record an outcome in a Pod that is being deleted.
const heard = 10 * time.Second

// Serve is the agent: it serves clients until the Pod is deleted, or is not needed any more.
func Serve(o Options) error {
	if err := programs.Confine(); err != nil {
		return err
	}
	m, err := openMessage(o.Message)
	if err != nil {
		return err
	}
	a, err := newAgent(o, m)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	// The first process of a container gets no signal that it does not handle: a program must not end it.
	signal.Notify(make(chan os.Signal, 1))
	signal.Notify(stop, syscall.SIGTERM)
	l, err := listen(o.Socket)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- a.accept(l, o.Timing) }()
	check := time.NewTicker(max(min(time.Second, o.Idle/4), time.Millisecond))
	defer check.Stop()
	for {
		select {
		case err := <-failed:
			return err
		case <-stop:
			a.log("the Pod is being deleted")
			a.shutdown(o.Stop)
			return m.end()
		case <-check.C:
			if a.unneeded(o, time.Now()) {
				a.log("nobody needs this Pod any more")
				return m.end()
			}
		}
	}
}

// unneeded reports whether the agent ends by itself: without a client, after a while without open
// actions, and after a longer one with outcomes that nobody has recorded.
func (a *agent) unneeded(o Options, now time.Time) bool {
	since := a.alone()
	running, ended := a.actions.running()
	switch {
	case since.IsZero() || running > 0:
		return false
	case !ended.IsZero():
		if ended.After(since) {
			since = ended
		}
		return now.Sub(since) >= o.Keep
	}
	return now.Sub(since) >= o.Idle
}

// shutdown lets actions end and be recorded, ends them before the Pod's time is over, and ends the connections.
func (a *agent) shutdown(stop time.Duration) {
	a.actions.stop()
	end := time.Now().Add(stop)
	term := time.After(max(stop-ending, stop/2))
	check := time.NewTicker(20 * time.Millisecond)
	defer check.Stop()
	var quiet time.Time // since when nothing runs
	for time.Now().Before(end) {
		select {
		case <-term:
			a.actions.cancel(errDeleted)
		case <-check.C:
		}
		running, ended := a.actions.running()
		switch {
		case running > 0:
			quiet = time.Time{}
			continue
		case quiet.IsZero():
			quiet = time.Now()
		}
		if ended.IsZero() || !a.alone().IsZero() || time.Since(quiet) > heard {
			break
		}
	}
	a.dropAll(errDeleted)
}

// accept serves each client that connects.
func (a *agent) accept(l listener, t remote.Timing) error {
	for {
		conn, err := l.accept()
		if err != nil {
			return err
		}
		if err := checkPeer(conn); err != nil {
			a.log("a connection was refused: %s", err)
			_ = conn.Close()
			continue
		}
		go a.serve(conn, t)
	}
}

// serve serves one client. When its connection is lost, its queries end and its actions continue.
func (a *agent) serve(conn *os.File, t remote.Timing) {
	ctx, drop := context.WithCancelCause(context.Background())
	c := a.connect(drop)
	err := remote.Serve(ctx, conn, c, t)
	if err == nil {
		err = errors.New("the client has left")
	}
	drop(err)
	a.leave(c)
}

func newID() string {
	var b [16]byte
	_, _ = unix.Getrandom(b[:], 0) // a kernel that has started has enough of it
	return hex.EncodeToString(b[:])
}
