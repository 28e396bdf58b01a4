package hosts

import (
	"context"
	"sync"

	"deployster/config"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
)

// RemoveEnded removes the Pods that earlier commands of a state have left in clusters and that nobody waits for. What cannot be
// removed now stays for the next command, or for `host check -prune`.
func RemoveEnded(ctx context.Context, at *router.Places, m *config.Manifest, pins map[string]router.Pin, lineage string) {
	var all sync.WaitGroup
	for _, h := range m.Hosts() {
		if lineage == "" || !h.InCluster() || pins[h.Name].Facts == nil {
			continue
		}
		all.Go(func() { _, _ = at.Inspect(ctx, h.Host, remote.Inspection{Prune: true, Lineage: lineage}) })
	}
	all.Wait()
}
