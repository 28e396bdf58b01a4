package pins

import (
	"context"

	"deployster/internal/app"
	"deployster/internal/app/clients"
	"deployster/internal/app/images"
	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/artifact"
)

// OpenVersions returns a Service for the versions of the declared artifacts.
func OpenVersions(ctx context.Context, e *app.Engine, in workspace.Inputs) (*versions.Service, error) {
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, err
	}
	prior, err := e.Workspace.ReadState(ctx, e.Workspace.StatePlace(m))
	if err != nil {
		return nil, err
	}
	at, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	return clients.Source{Command: e.Command(), Machine: at, Places: at.Places}.Versions(m, prior)
}

// OpenFiles opens the store of artifacts for a command that works on nothing else.
func OpenFiles(ctx context.Context, e *app.Engine) (artifact.Store, error) {
	at, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	return at.OpenFiles(), nil
}

// upgradePins moves the pins of artifacts in the lock file to the newest versions.
// Without newest it only drops the pins of artifacts that are no longer declared.
func upgradePins(ctx context.Context, e *app.Engine, in workspace.Inputs, newest bool) (changes []images.LockChange, err error) {
	lock, err := images.ReadLock(e.Workspace.Dir)
	if err != nil || lock == nil || len(lock.Artifacts) == 0 {
		return nil, err
	}
	service, err := OpenVersions(ctx, e, in)
	if err != nil {
		return nil, err
	}
	moved, err := service.Upgrade(ctx, newest, app.DefaultParallelism)
	for _, c := range moved {
		was, now := c.Texts()
		changes = append(changes, images.LockChange{Name: "artifact." + c.Name, Now: now, Was: was})
	}
	return changes, err
}
