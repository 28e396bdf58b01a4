package pins

import (
	"context"

	"deployster/internal/app"
	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
)

// OpenPins is OpenVersions for a command that changes the pins of artifacts: it locks the lock file first.
func OpenPins(ctx context.Context, e *app.Engine, in workspace.Inputs, command string) (*versions.Service, error) {
	if err := e.HoldLockFile(ctx, command); err != nil {
		return nil, err
	}
	return OpenVersions(ctx, e, in)
}
