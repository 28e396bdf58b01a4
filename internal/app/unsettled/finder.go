package unsettled

import (
	"context"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/hosts"
	"deployster/internal/runtime/remote/router"
	"deployster/state"
)

// Finder finds out how the actions of a state ended.
type Finder struct {
	Command  command.Command
	Places   *router.Places
	Place    state.Place      // of the state
	Manifest *config.Manifest // has the hosts of today
	AtOnce   int              // how many hosts are greeted concurrently; 0 = order.Hosts
}

// Open returns the IDs of the actions whose end a state does not know.
func Open(s state.Snapshot) *[]string {
	ids := []string{}
	for _, addr := range s.Unknown() {
		for _, a := range s.Unsettled[addr].Open() {
			ids = append(ids, a.Key)
		}
	}
	return &ids
}

// locate returns a state in which entries on hosts have the hosts of today.
func (f Finder) locate(ctx context.Context, prior state.Snapshot, too func(addr string) bool) (state.Snapshot, error) {
	return hosts.Locate(ctx, f.Places, f.Manifest, prior, f.AtOnce, too)
}
