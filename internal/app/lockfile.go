package app

import (
	"context"

	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
)

// OpenPins is OpenVersions for a command that changes the pins of artifacts: it locks the lock file first.
func OpenPins(ctx context.Context, e *Engine, in workspace.Inputs, command string) (*versions.Desk, error) {
	if err := holdLockFile(ctx, e, command); err != nil {
		return nil, err
	}
	return OpenVersions(ctx, e, in)
}

// holdLockFile locks the lock file from before it is read until the engine is closed.
func holdLockFile(ctx context.Context, e *Engine, command string) (err error) {
	if e.lockFile == nil {
		e.lockFile, err = workspace.HoldLockFile(ctx, e.Dir, command, e.LockTimeout, e.Note)
	}
	return err
}
