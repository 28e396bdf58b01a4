package subject

import (
	"slices"

	"deployster/config"
)

// TakesValues reports whether a resource takes values from one that acts, by its address. One that
// it subscribes to is not one: the resource is notified in its query.
func TakesValues(r *config.Resource, acts func(addr string) bool) bool {
	return slices.ContainsFunc(r.Edges, func(e config.Edge) bool {
		return !e.Origin.OrderOnly() && e.Origin != config.FromSubscribe && acts(e.To)
	})
}

// SeesMore reports whether a resource sees more of one that acts than values in its config: it
// subscribes to it, or it reads only, and waits for it in order.
func SeesMore(r *config.Resource, acts func(addr string) bool) bool {
	return slices.ContainsFunc(r.Edges, func(e config.Edge) bool {
		return (e.Origin == config.FromSubscribe || r.ReadOnly && e.Origin.OrderOnly()) && acts(e.To)
	})
}
