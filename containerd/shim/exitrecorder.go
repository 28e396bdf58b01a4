package shim

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

	"deployster/internal/base/durable"
)

// exitRecorder is between a shim and the server that it reports to. A server that was
// lost forgets, when it is back, the programs that have ended meanwhile; so how a
// program ended is written down before it is told.
type exitRecorder struct {
	shim.Publisher
	dirs map[string]string // of the standard files, by container; the shim publishes from one goroutine
}

// Publish implements shim.Publisher.
func (w *exitRecorder) Publish(ctx context.Context, topic string, event events.Event) error {
	var err error
	switch e := event.(type) {
	case *eventstypes.TaskCreate:
		if out := e.GetIO().GetStdout(); filepath.IsAbs(out) {
			w.dirs[e.ContainerID] = filepath.Dir(out)
		}
	case *eventstypes.TaskExit:
		if dir := w.dirs[e.ContainerID]; dir != "" && e.ID == e.ContainerID {
			err = WriteEnding(dir, Ending{Code: int(e.ExitStatus), At: e.ExitedAt.AsTime()})
		}
	}
	return errors.Join(err, w.Publisher.Publish(ctx, topic, event))
}

// endingFile lies beside the standard files of a run. It tells how the run ended,
// for those who come when its client is dead, and is written by whoever is the
// first to know.
const endingFile = "ending"

// Ending is how a program ended by itself.
type Ending struct {
	Code int       `json:"code"`
	At   time.Time `json:"at"`
}

// WriteEnding writes it down in the directory of a run's standard files. It is
// not synced: where those files lie, nothing outlives the machine's next start.
func WriteEnding(dir string, e Ending) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return durable.WriteUnsynced(filepath.Join(dir, endingFile), content, 0o600)
}

// ReadEnding returns what WriteEnding wrote. It is not ok when nothing was.
func ReadEnding(dir string) (e Ending, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, endingFile))
	return e, err == nil && json.Unmarshal(b, &e) == nil
}
