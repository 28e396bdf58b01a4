package apply

import (
	"context"

	"deployster/config"
)

// semaphores bound how many resources act at one time. Each has as many places as it
// has slots.
type semaphores map[string]chan struct{}

func newSemaphores(declared []config.Semaphore) semaphores {
	all := semaphores{}
	for _, s := range declared {
		all[s.Name] = make(chan struct{}, s.Slots)
	}
	return all
}

// take waits for a place in each semaphore of a resource, which are sorted: so no two
// wait for each other. When ctx ends before, it has none, and free is nil. What is
// not declared needs none.
func (s semaphores) take(ctx context.Context, r *config.Resource) (free func()) {
	var names []string
	if r != nil {
		names = r.Semaphores
	}
	taken := 0
	free = func() {
		for _, name := range names[:taken] {
			<-s[name]
		}
	}
	for _, name := range names {
		select {
		case s[name] <- struct{}{}:
			taken++
		case <-ctx.Done():
			free()
			return nil
		}
	}
	return free
}
