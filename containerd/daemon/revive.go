package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"deployster/containerd/layout"
)

// ReconnectLimit is how long a daemon that was lost may take to come back, as
// it does when it is updated, also on a machine that has much else to do: the
// containers live on meanwhile.
const ReconnectLimit = 30 * time.Second

// dialLimit is how long a server that seemed to be there is tried to be spoken to
// before it is looked for again: one that is being killed listens to its end.
const dialLimit = time.Second

// Revive brings back a server that was lost: the embedded one is started anew,
// and takes over what runs; a daemon is given the time that an update takes.
//
// What was being made or removed when it died may be in nobody's records, such as
// the cgroup of a container; so this client is swept after, like one that died.
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

// relaunch starts the embedded server, if it does not run. The directory in which
// this client has its file is there, gate and all, or it was removed and is not
// this client's to make again.
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

// awaitDaemon waits until a daemon listens again.
func (c *Conn) awaitDaemon(ctx context.Context) error {
	for end := time.Now().Add(ReconnectLimit); !Listening(c.Socket); {
		if time.Now().After(end) {
			return errNoDaemon(c.Socket, unix.ECONNREFUSED)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// reconnect makes the client see that its server is back, which it would only
// look for after a pause.
func (c *Conn) reconnect(ctx context.Context) error {
	conn, ok := c.Client.Conn().(*grpc.ClientConn)
	if !ok || conn == nil {
		return nil // it speaks to something else
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
