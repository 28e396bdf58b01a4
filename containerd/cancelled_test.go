package containerd

import (
	"context"
	"errors"
	"testing"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"

	"deployster/internal/runtime/runner"
)

// overWithTask is a context that is over as soon as there is a task: when the container is
// made, and before its program begins.
type overWithTask struct {
	context.Context
	r *Runtime
}

func (c overWithTask) Err() error {
	list, err := c.r.conn.Client.TaskService().List(c.r.conn.Context(context.Background()), &taskapi.ListTasksRequest{})
	if err == nil && len(list.Tasks) > 0 {
		return context.Canceled
	}
	return nil
}

// A run that is cancelled while its container waits for the start ends at once: nobody
// waits for what that container, which never ran, may still print.
func TestRun_CancelledBeforeItsStart(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	s := runner.Spec{Name: "q", Kind: runner.Query, Digest: packProbe(t, r), Entrypoint: "/bin/true", Timeout: time.Minute}
	begin := time.Now()
	if _, err := r.Run(overWithTask{context.Background(), r}, s); !errors.Is(err, context.Canceled) {
		t.Errorf("it was not cancelled: %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	nothingLeft(t, r)
}
