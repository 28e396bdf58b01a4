package unsettled

import (
	"context"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/hosts"
	"deployster/internal/runtime/remote/router"
	"deployster/state"
	"deployster/state/actions"
)

// Finder finds out how the actions of a state ended.
type Finder struct {
	Command  command.Command
	Places   *router.Places
	Place    state.Place      // of the state
	Manifest *config.Manifest // has the hosts of today
	AtOnce   int              // how many hosts are greeted concurrently; 0 = order.Hosts
}

// locate returns a state in which entries on hosts have the hosts of today.
func (f Finder) locate(ctx context.Context, prior state.Snapshot, too func(actions.Unsettled) bool) (state.Snapshot, error) {
	return hosts.Locate(ctx, f.Places, f.Manifest, prior, f.AtOnce, too)
}
