package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	eventstypes "github.com/containerd/containerd/api/events"
	"github.com/containerd/containerd/v2/core/events"
	"github.com/containerd/containerd/v2/pkg/shim"
)

// Beside the standard files of a run lies what is known of its life, for those
// who come when its client is dead.
const (
	beginFile  = "begin"  // its start was about to be asked for: without it, the program never ran
	endingFile = "ending" // how it ended: written by whoever is the first to know
)

// ending is how a program ended by itself.
type ending struct {
	Code int       `json:"code"`
	At   time.Time `json:"at"`
}

// writeEnding writes it down in the directory of a run's standard files. It is
// not synced: where those files lie, nothing outlives the machine's next start.
func writeEnding(dir string, e ending) error {
	f, err := os.CreateTemp(dir, "."+endingFile+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(json.NewEncoder(f).Encode(e), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, endingFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// readEnding gives what writeEnding wrote.
func readEnding(dir string) (e ending, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, endingFile))
	return e, err == nil && json.Unmarshal(b, &e) == nil
}

// endingSlow is how long the process that looks after a program may take to
// write down how it ended, once it has told so.
const endingSlow = 10 * time.Second

// awaitEnding waits for what is about to be written.
func awaitEnding(ctx context.Context, dir string, limit time.Duration) (e ending, ok bool) {
	for end := time.Now().Add(limit); ; {
		if e, ok = readEnding(dir); ok || time.Now().After(end) || ctx.Err() != nil {
			return e, ok
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// witness is between a shim of ours and the server that it reports to. A
// server that was lost forgets, when it is back, the programs that have ended
// meanwhile; so how a program ended is written down before it is told.
type witness struct {
	shim.Publisher
	dirs map[string]string // of the standard files, by container; the shim publishes from one goroutine
}

// Publish implements shim.Publisher.
func (w *witness) Publish(ctx context.Context, topic string, event events.Event) error {
	var err error
	switch e := event.(type) {
	case *eventstypes.TaskCreate:
		if out := e.GetIO().GetStdout(); filepath.IsAbs(out) {
			w.dirs[e.ContainerID] = filepath.Dir(out)
		}
	case *eventstypes.TaskExit:
		// What runs in a container that is shared has its files beside those of
		// the container; see warm.
		if dir := w.dirs[e.ContainerID]; dir != "" {
			if e.ID != e.ContainerID {
				dir = filepath.Join(filepath.Dir(dir), e.ID)
			}
			err = writeEnding(dir, ending{Code: int(e.ExitStatus), At: e.ExitedAt.AsTime()})
		}
	}
	return errors.Join(err, w.Publisher.Publish(ctx, topic, event))
}
