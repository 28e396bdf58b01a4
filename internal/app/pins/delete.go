package pins

import (
	"context"

	"deployster/internal/app"
	"deployster/internal/app/clients"
	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
)

// OpenLocked is OpenVersions for a command that must be the only one to use versions: no other command changes the state until
// unlock is called.
func OpenLocked(ctx context.Context, e *app.Engine, in workspace.Inputs, command string) (s *versions.Service, unlock func(), err error) {
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	held, err := e.Workspace.HoldState(ctx, e.Workspace.StatePlace(m), command)
	if err != nil {
		return nil, nil, err
	}
	unlock = func() { _ = held.Close() } // what was locked was only read
	at, err := e.Machine(ctx)
	if err == nil {
		s, err = clients.Source{Command: e.Command(), Machine: at, Places: at.Places}.Versions(m, held.Snapshot)
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return s, unlock, nil
}
