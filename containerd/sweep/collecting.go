package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deployster/containerd/layout"
	"deployster/internal/base/proc"
)

// collectPatience is the default of Sweeper.Patience: a collection takes milliseconds.
const collectPatience = 10 * time.Second

var errPatience = errors.New("another process is collecting for too long")

// HeldError reports that another process has been collecting for too long, as one does that was
// suspended meanwhile.
type HeldError struct {
	Path string // of the lock file
	PID  int    // 0 = not known
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return "another process holds the lock " + e.Path + ", in which ended actions are collected"
	}
	state := ""
	if letter := proc.Of(e.PID).Letter; letter == 'T' || letter == 't' {
		state = ", which is suspended,"
	}
	return fmt.Sprintf("the process %d%s holds the lock %s, in which ended actions are collected: resume it (kill -CONT %d), or end it",
		e.PID, state, e.Path, e.PID)
}

// lockCollecting takes the lock of those who collect, and notes in it who has it. The error is a
// *HeldError if another process has it for too long.
func (w Sweeper) lockCollecting(ctx context.Context) (*os.File, error) {
	lock, err := layout.OpenLock(filepath.Join(w.RuntimeDir, "collecting"), os.O_CREATE)
	if err != nil {
		return nil, err
	}
	patience := w.Patience
	if patience == 0 {
		patience = collectPatience
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	if err := layout.WaitLock(ctx, lock); err != nil {
		if errors.Is(err, errPatience) {
			err = &HeldError{Path: lock.Name(), PID: holder(lock)}
		}
		lock.Close()
		return nil, err
	}
	_, err = lock.WriteAt(fmt.Appendf(nil, "%-20d\n", os.Getpid()), 0)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// holder returns the process that has noted itself in a lock; 0 = not known.
func holder(lock *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, 64))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text))) // 0 for a text that is not a number
	return pid
}
