package runfiles

import (
	"context"
	"time"

	"deployster/containerd/shim"
)

// BeginFile lies beside the standard files of a run: its start was about to be
// asked for. Without it, the program never ran.
const BeginFile = "begin"

// EndingLimit is how long the process that looks after a program may take to
// write down how it ended, once it has told so.
const EndingLimit = 10 * time.Second

// AwaitEnding waits for what is about to be written.
func AwaitEnding(ctx context.Context, dir string, limit time.Duration) (e shim.Ending, ok bool) {
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
