package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/pod/programs"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Receive serves clients until one has brought the files of an artifact, whose tree has a hash. They
// are in the directory files of dir then: a volume is a directory itself, and files is made with its mode. Without a client
// Receive ends after a while: the command that has made the Pod was killed.
func Receive(o Options, hash, dir string) error {
	if err := programs.Confine(); err != nil {
		return err
	}
	l, err := listen(o.Socket)
	if err != nil {
		return err
	}
	r := &receiver{hash: hash, dir: filepath.Join(dir, "files"), done: make(chan struct{}), since: time.Now()}
	go func() {
		for {
			conn, err := l.accept()
			if err != nil {
				return
			}
			if checkPeer(conn) != nil {
				_ = conn.Close()
				continue
			}
			r.joined()
			go func() {
				_ = remote.Serve(context.Background(), conn, r, o.Timing) // a client that has left may come again
				r.left()
			}()
		}
	}()
	check := time.NewTicker(max(min(time.Second, o.Idle/4), time.Millisecond))
	defer check.Stop()
	for {
		select {
		case <-r.done:
			return nil
		case now := <-check.C:
			if r.alone(now) >= o.Idle {
				return errors.New("nobody has sent the files")
			}
		}
	}
}

// receiver is the place of a container that receives files. It implements remote.Place.
type receiver struct {
	hash, dir string
	done      chan struct{} // closed when they are here and the client has heard it

	mu      sync.Mutex
	here    bool
	closed  bool
	clients int
	since   time.Time // when the last client has left
}

var errReceives = errors.New("this container only receives files")

// Enter implements remote.Place.
func (r *receiver) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	return remote.Welcome{Build: remote.AgentVersion, Boot: newID(), Clock: time.Now()}, nil
}

// Bring implements remote.Place. What came in part before is removed.
func (r *receiver) Bring(ctx context.Context, f remote.Files, archive io.Reader) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.here {
		return nil
	}
	if f.Tree != r.hash {
		return fmt.Errorf("the files of %s have the hash %s, and those of %s are expected", f.Name, f.Tree, r.hash)
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	if err := tree.Unpack(ctx, archive, r.dir); err != nil {
		return err
	}
	sum, err := tree.Measure(ctx, r.dir)
	if err != nil {
		return err
	}
	if sum.Hash != r.hash {
		return fmt.Errorf("the files of %s that arrived have the hash %s instead of %s", f.Name, sum.Hash, r.hash)
	}
	r.here = true
	return nil
}

// joined notes a client that has come.
func (r *receiver) joined() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
}

// alone returns for how long there was no client.
func (r *receiver) alone(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients > 0 {
		return 0
	}
	return now.Sub(r.since)
}

// left notes a client that has left, and ends the container when the files are here.
func (r *receiver) left() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients--
	r.since = time.Now()
	if r.here && !r.closed {
		r.closed = true
		close(r.done)
	}
}

// Acts implements remote.Place.
func (*receiver) Acts(context.Context, remote.Hello) error { return errReceives }

// Run implements runner.Runner.
func (*receiver) Run(context.Context, runner.Spec) (runner.Result, error) {
	return runner.Result{}, errReceives
}

// Launch implements runner.Launcher.
func (*receiver) Launch(context.Context, runner.Spec) (runner.Process, error) {
	return nil, errReceives
}

// Resolve implements runner.Runner.
func (*receiver) Resolve(context.Context, string) (runner.Image, error) {
	return runner.Image{}, errReceives
}

// Adopt implements runner.Adopter.
func (*receiver) Adopt(context.Context, string, runner.Watch) (runner.Outcome, error) {
	return runner.Outcome{}, errReceives
}

// Discard implements runner.Adopter.
func (*receiver) Discard(context.Context, string) error { return errReceives }

// Running implements remote.Place.
func (*receiver) Running(context.Context, string) (bool, error) { return false, errReceives }

// Receive implements remote.Place.
func (*receiver) Receive(context.Context, runner.Shipment, runner.Contents) error {
	return errReceives
}

// Look implements remote.Place.
func (*receiver) Look(context.Context, []remote.Plug) []remote.Seen { return nil }
