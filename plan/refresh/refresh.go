package refresh

import (
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/protocol"
	"deployster/state"
)

// Owed lists the subscribed resources that were acted on since the subscriber was last
// VALID, or since its creation began. acts reports whether this run starts an action of
// a resource, prior is the state before this run. A new subscription counts nothing
// that happened before it.
func Owed(subscribed []string, e state.Entry, prior state.Snapshot, acts func(addr string) bool) []string {
	return slices.DeleteFunc(slices.Clone(subscribed), func(addr string) bool {
		seen, known := e.Seen[addr]
		return !acts(addr) && (!known || prior.Resources[addr].Acted <= seen)
	})
}

// Seen returns, by subscribed resource, the serial that a subscriber has seen if it is VALID now.
func Seen(subscribed []string, prior state.Snapshot, acts func(addr string) bool) map[string]uint64 {
	if len(subscribed) == 0 {
		return nil
	}
	seen := make(map[string]uint64, len(subscribed))
	for _, addr := range subscribed {
		if seen[addr] = prior.Resources[addr].Acted; acts(addr) {
			seen[addr] = prior.Serial + 1
		}
	}
	return seen
}

// UnrecordedSubscribers lists, by subscribed resource, the recorded subscribers whose entries do not have
// that subscription yet.
func UnrecordedSubscribers(m *config.Manifest, prior state.Snapshot) map[string][]string {
	news := map[string][]string{}
	for _, r := range m.Resources() {
		e, recorded := prior.Resources[r.Address]
		for _, addr := range r.Subscribes {
			if _, known := e.Seen[addr]; recorded && !known {
				news[addr] = append(news[addr], r.Address)
			}
		}
	}
	return news
}

// CheckSubscriptions refuses the subscriptions of a resource whose type does not accept notifications.
func CheckSubscriptions(r *config.Resource, ty *protocol.Type) diag.Diagnostics {
	if ty.Refresh || len(r.Subscribes) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.Errorf("Type does not support refresh", "It subscribes %s, and %s has no \"refresh\": true in its "+
		"answer to init. Use depends_on where only the order matters, or a type that supports "+
		"refresh.", r.Subscribes[0], diag.Visible(r.TypeRef))}
}
