package containerd

import (
	"context"
	"time"

	"deployster/containerd/shim"
)

// beginFile lies beside the standard files of a run: its start was about to be
// asked for. Without it, the program never ran.
const beginFile = "begin"

// endingSlow is how long the process that looks after a program may take to
// write down how it ended, once it has told so.
const endingSlow = 10 * time.Second

// awaitEnding waits for what is about to be written.
func awaitEnding(ctx context.Context, dir string, limit time.Duration) (e shim.Ending, ok bool) {
	for end := time.Now().Add(limit); ; {
		if e, ok = shim.ReadEnding(dir); ok || time.Now().After(end) || ctx.Err() != nil {
			return e, ok
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
}
