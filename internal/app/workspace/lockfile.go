package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// HoldLockFile locks the lock file of a working directory against other commands: every
// write replaces the whole file. It waits for another command for as long as patience, and
// calls note then. Where the directory is not writable it returns nil, as no other command
// can write there either.
func HoldLockFile(ctx context.Context, dir, command string, patience time.Duration, note func(string, ...any)) (*durable.Lock, error) {
	dir = filepath.Join(dir, ".deployster")
	if err := os.MkdirAll(dir, 0o755); err != nil && !unwritable(err) {
		return nil, diag.Errorf("Cannot lock the lock file", "%s. Nothing was changed.", err)
	}
	_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644) // it belongs to this machine only
	path := filepath.Join(dir, "lock-file.lock")
	held, err := durable.TryLock(path, true, "deployster "+command)
	todo := "Wait until that has ended (-lock-timeout 5m does it for you), or end it"
	if locked, ok := errors.AsType[*durable.LockedError](err); ok && patience > 0 {
		note("The lock file is in use by %s. Waiting for at most %s.", userOf(locked), patience)
		todo = fmt.Sprintf("Gave up waiting after %s. Wait longer, or end it", patience)
		held, err = waitLock(ctx, path, "deployster "+command, patience)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if locked, ok := errors.AsType[*durable.LockedError](err); ok {
		return nil, diag.Because(err, "The lock file is locked", "%s is in use by %s. %s; the lock goes with its process, and nothing has "+
			"to be unlocked by hand.", config.LockName, userOf(locked), todo)
	}
	if err != nil && !unwritable(err) {
		return nil, diag.Errorf("Cannot lock the lock file", "%s. Nothing was changed.", err)
	}
	return held, nil
}

func waitLock(ctx context.Context, path, command string, patience time.Duration) (*durable.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return durable.WaitLock(ctx, path, true, command)
}

// unwritable reports whether an error means that nothing can be written at a path.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist)
}

// userOf names the holder of a lock, as far as it is known.
func userOf(e *durable.LockedError) string {
	if e.Holder == nil {
		return "another deployster process"
	}
	return diag.Visible(e.Holder.String())
}
