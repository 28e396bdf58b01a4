package app

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
	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// OpenPins is OpenVersions for a command that changes the pins of artifacts: it locks the lock file first.
func OpenPins(ctx context.Context, e *Engine, in workspace.Inputs, command string) (*versions.Desk, error) {
	if err := holdLockFile(ctx, e, command); err != nil {
		return nil, err
	}
	return OpenVersions(ctx, e, in)
}

// holdLockFile locks the workspace's lock file against other commands, from before it is
// read until the engine is closed: every write replaces the whole file. Where the
// directory is not writable no lock is taken, as no other command can write there either.
func holdLockFile(ctx context.Context, e *Engine, command string) error {
	if e.lockFile != nil {
		return nil
	}
	dir := filepath.Join(e.Dir, ".deployster")
	if err := os.MkdirAll(dir, 0o755); err != nil && !unwritable(err) {
		return diag.Errorf("Cannot lock the lock file", "%s. Nothing was changed.", err)
	}
	_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644) // it belongs to this machine only
	path := filepath.Join(dir, "lock-file.lock")
	held, err := durable.TryLock(path, true, "deployster "+command)
	todo := "Wait until that has ended (-lock-timeout 5m does it for you), or end it"
	if locked, ok := errors.AsType[*durable.LockedError](err); ok && e.LockTimeout > 0 {
		e.Note("The lock file is in use by %s. Waiting for at most %s.", userOf(locked), e.LockTimeout)
		todo = fmt.Sprintf("Gave up waiting after %s. Wait longer, or end it", e.LockTimeout)
		held, err = waitLock(ctx, path, "deployster "+command, e.LockTimeout)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if locked, ok := errors.AsType[*durable.LockedError](err); ok {
		return diag.Because(err, "The lock file is locked", "%s is in use by %s. %s; the lock goes with its process, and nothing has to be "+
			"unlocked by hand.", config.LockName, userOf(locked), todo)
	}
	if err != nil && !unwritable(err) {
		return diag.Errorf("Cannot lock the lock file", "%s. Nothing was changed.", err)
	}
	e.lockFile = held
	return nil
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
